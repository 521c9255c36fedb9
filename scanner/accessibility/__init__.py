"""How markup reaches assistive technology: what is hidden, which role an element has, and what its name is."""
