import os

from django.core.wsgi import get_wsgi_application

from studio.web.uploads import reading_uploads

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "studio.settings")
application = reading_uploads(get_wsgi_application())
