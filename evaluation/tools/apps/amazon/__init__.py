"""A shop: products with reviews and questions, a cart, a wish list, orders."""
