from studio.forms.fields import use_own_sentences

use_own_sentences()
