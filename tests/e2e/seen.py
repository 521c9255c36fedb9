"""Script that counts a page's visible words and elements.

It also measures the height.
"""

from __future__ import annotations

# Collapsed, hidden and screen-reader-only text is not counted.
VISIBLE_CONTENT_SCRIPT = """() => {
  const DRAWN = { opacityProperty: true, visibilityProperty: true };
  const words = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    if (!text.data.trim() || !text.parentElement.checkVisibility(DRAWN)) continue;
    const range = document.createRange();
    range.selectNodeContents(text);
    const { width, height } = range.getBoundingClientRect();
    const { width: room } = text.parentElement.getBoundingClientRect();
    if (width > 1 && height > 1 && room > 1) words.push(...text.data.trim().split(/\\s+/));
  }
  return [words.length, document.documentElement.scrollHeight, document.querySelectorAll("*").length];
}"""
