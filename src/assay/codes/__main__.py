"""Print the page of the documentation that lists all codes."""

import sys

from assay.codes import messages_page

if __name__ == "__main__":
    sys.stdout.write(messages_page())
