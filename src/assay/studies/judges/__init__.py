"""Language models as raters: what they are asked, how, and what their answers say."""
