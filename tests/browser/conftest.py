"""Fixtures: a running stack and Chromium. The tests are skipped without Chromium."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.support import Console
from tests.e2e.conftest import serving
from tests.e2e.runs import running

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser

    from tests.e2e.support import Service

# Playwright waits as long for an action. Its default for an assertion, 5 seconds, is too short on a busy machine.
PATIENCE_MILLISECONDS = 30_000
# The headless shell takes three quarters of the processor time of the whole browser.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
CHROMIUM = next((path for name in NAMES if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Yield Chromium."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium: apt-get install chromium-headless-shell, or chromium")
    expect.set_options(timeout=PATIENCE_MILLISECONDS)
    with sync_playwright() as playwright:
        # Containers seldom allow the namespaces of Chromium's sandbox; only pages of our own stack are opened.
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield chromium
        chromium.close()


@pytest.fixture(scope="package")
def service(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Yield a separate stack without QuickBooks. The tests run the sessions."""
    del browser  # without Chromium there is no need to start a stack
    with running(tmp_path_factory.mktemp("browser"), QUICKBOOKS="off") as run, serving(run.credentials) as service:
        yield service


@pytest.fixture
def console(browser: Browser, service: Service) -> Iterator[Console]:
    """Yield a new window. The test fails if a script of the page fails or hostile content runs."""
    context = browser.new_context(
        viewport={"width": 1280, "height": 900}, locale="en-US", timezone_id="America/New_York", accept_downloads=True
    )
    console = Console(service, context.new_page())
    yield console
    context.close()
    assert console.problems == []
