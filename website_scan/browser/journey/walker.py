"""Execute a journey in a fresh browser context."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from website_scan.browser.chromium import Chromium, Context
from website_scan.browser.console import ConsoleErrors
from website_scan.browser.credentials import HeaderSender
from website_scan.browser.devtools import CLOSED, Event, ProtocolError
from website_scan.browser.evidence import Load
from website_scan.browser.journey.activity import PageActivity
from website_scan.browser.journey.camera import MaskedCamera
from website_scan.browser.journey.facts import FactReader, StepFacts
from website_scan.browser.journey.failures import BUSY, Deadline, StepFailed
from website_scan.browser.journey.guard import Guard
from website_scan.browser.journey.load_recorder import StepRecorder
from website_scan.browser.journey.log_out import LogOutTest
from website_scan.browser.journey.request import WalkRequest
from website_scan.browser.journey.result import State, Walk, state_name, unique_name
from website_scan.browser.journey.secrets import SecretMask
from website_scan.browser.journey.state_evidence import (
    PageTools,
    StateEvidence,
    load_of_requests,
    read_metrics,
    wait_for_calm_document,
)
from website_scan.browser.journey.step_pictures import StepPictures
from website_scan.browser.journey.steps import StepRunner
from website_scan.browser.journey.worlds import Frames, ScriptFailed
from website_scan.browser.processes import Usage
from website_scan.browser.visit import BrowserFailed, PageCrashed
from website_scan.journeys.journey import (
    MAX_STEP_TIMEOUT_S,
    Change,
    Click,
    Hover,
    Judge,
    KeyDown,
    Step,
)
from website_scan.journeys.walk import Cookie, LiveMessage, StepResult, StepStatus
from website_scan.messages import counted
from website_scan.net.budget import Meter
from website_scan.net.errors import BudgetExceeded
from website_scan.urls import Url

INPUT_STEPS = (Change, Click, Hover, KeyDown)
# Requests to other sites contain many short texts by chance, for example in the name of a file.
MIN_GUARDED_LENGTH = 6
MAX_PARTS_S = 5.0  # Time limit for each part of a step's result.
OPEN_TIMEOUT_S = 10.0
CLOSE_TIMEOUT_S = 5.0
# Further time for the result of the last step, and for closing the browser context.
WALK_GRACE_S = 2 * MAX_PARTS_S + CLOSE_TIMEOUT_S
STATE_GRACE_S = 2.0  # Further time for the evidence of a state that has been collected.
MAX_TITLE_CHARS = 200
OUT_OF_TIME = "There was not enough time for all steps of the journey."


class Walker:
    """One execution of a journey. `result` can be called at any time, also after a crash of the browser."""

    def __init__(self, browser: Chromium, request: WalkRequest, usage: Callable[[], Usage]) -> None:
        self._browser = browser
        self._request = request
        self._usage = usage
        self._mask = SecretMask(request.secrets, request.journey.start_url)
        self._meter = Meter(request.limits)
        self._product = f"Chromium {browser.version}"
        self._steps: list[StepResult] = []
        self._states: list[State] = []
        self._messages: list[LiveMessage] = []
        self._left_out_states = 0
        self._notes: list[str] = []
        self._last_load: Load | None = None
        self._last_document = 0
        self._metrics: dict[str, float] = {}
        self._usage_before = usage()  # At the end of the state before.
        self._facts = StepFacts()
        self._cookies_before_secrets: tuple[Cookie, ...] | None = None
        # True if the context has been closed, so that the browser can be used again.
        self.is_closed = False

    @property
    def has_begun(self) -> bool:
        """Return True if there is a result of a step."""
        return bool(self._steps)

    def result(self, problem: str = "") -> Walk:
        """Return the result so far, without secrets. `problem` says why the journey ended early."""
        journey = self._request.journey
        steps = list(self._steps)
        steps += [StepResult(StepStatus.NOT_REACHED)] * (len(journey.steps) - len(steps))
        notes = list(self._notes)
        if self._left_out_states and (most := self._request.max_states):
            left_out = counted(self._left_out_states, "state was", "states were")
            notes.append(f"{left_out} not judged, because this run judges at most {counted(most, 'state')}.")
        problem = problem or next((step.problem for step in steps if step.problem), "")
        walk = Walk(
            tuple(steps), tuple(self._states), self._product, problem, tuple(notes), self._cookies_before_secrets
        )
        return self._mask.apply(walk)

    async def walk(self) -> Walk:
        """Execute the journey. Raises `BrowserFailed`, `ProtocolError`."""
        self._ends = Deadline.after(self._request.time_limit_s)
        self._failure: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        visit = self._request.visit(self._request.first_device)
        context = await asyncio.wait_for(
            Context.open(self._browser, visit, self._count_request), self._request.time_limit_s
        )
        context.page.on(
            "Inspector.targetCrashed", lambda _: self._fail(PageCrashed("The page made the browser crash."))
        )
        walking = asyncio.ensure_future(self._walk(context))
        try:
            await asyncio.wait((walking, self._failure), return_when=asyncio.FIRST_COMPLETED)
            problem = (self._failure if self._failure.done() else walking).result()
        except _TooManyRequests as error:
            problem = str(error)
        finally:
            for future in (walking, self._failure):
                future.cancel()
            await asyncio.gather(walking, self._failure, return_exceptions=True)
        with contextlib.suppress(TimeoutError, ProtocolError):
            await asyncio.wait_for(context.close(), CLOSE_TIMEOUT_S)
            self.is_closed = True
        return self.result(problem)

    def _fail(self, reason: BrowserFailed) -> None:
        if not self._failure.done():
            self._failure.set_exception(reason)

    def _count_request(self, event: Event) -> None:
        url = Url.parse(event["request"]["url"])
        if url is None or not url.is_http:
            return
        try:
            self._meter.request(url.host)
            if url.scheme == "https":
                self._request.proxy.count_in_tunnel(url.host, url.port or 0)
        except BudgetExceeded as error:
            self._fail(_TooManyRequests(f"The browser stopped the journey. {error}"))

    async def _walk(self, context: Context) -> str:
        await asyncio.wait_for(self._prepare(context), OPEN_TIMEOUT_S)
        try:
            return await self._execute_all()
        finally:
            # A browser can record only one trace at a time, and might be used again.
            with contextlib.suppress(ProtocolError, TimeoutError):
                await asyncio.wait_for(self._recorder.stop(), CLOSE_TIMEOUT_S)

    async def _execute_all(self) -> str:
        for number, step in enumerate(self._request.journey.steps):
            if self._ends.is_over:
                return OUT_OF_TIME
            result = await self._execute(number, step)
            self._steps.append(result)
            if result.status is StepStatus.FAILED:
                self._pictures.use(result.picture)
                return result.problem
            if self._request.has_pictures:
                self._pictures.expect(number)
            if (name := state_name(self._request.journey, number, result)) is not None:
                await self._judge_in_time(number, name)
            if self._request.has_pictures:
                await self._pictures.complete(number, judges_next=len(self._states) < self._request.max_states)
            self._request.report_progress(number + 1)
        return ""

    async def _prepare(self, context: Context) -> None:
        self._context = context
        self._page = page = context.page
        context.accepts_dialog = lambda event: bool(event["type"] == "beforeunload")
        self._frames = Frames(page)
        self._activity = PageActivity(page, self._mask)
        main_frame = (await self._frames.tree()).id
        await self._activity.start(main_frame)
        await page.send("Performance.enable", {"timeDomain": "threadTicks"})
        credentials = self._request.credentials
        if credentials is not None and credentials.headers:
            await HeaderSender(await context.open_session(), credentials).start()
        guarded = SecretMask(self._request.secrets, self._request.journey.start_url, MIN_GUARDED_LENGTH)
        self._guard = Guard(await context.open_session(), self._request.allowed, guarded, self._activity)
        await self._guard.start(page, main_frame)
        context.on_worker = self._guard.watch_worker
        self._console = ConsoleErrors()
        await self._console.listen(page)
        await self._frames.install()
        self._camera = MaskedCamera(await context.open_session(), self._frames, self._mask, self._request.allowed)
        self._reader = FactReader(page, self._mask)
        self._runner = StepRunner(page, self._frames, self._activity, self._request, self._mask)
        self._log_out_test = LogOutTest(page, self._activity, self._request, self._mask, self._browser.version)
        self._recorder = StepRecorder(page, self._activity, self._request.journey, self._request.parts)
        self._pictures = StepPictures(self._camera, self._request.journey.steps, self._steps, self._runner.is_there)
        self._tools = PageTools(page, self._camera, self._console, self._usage, self._product)

    async def _execute(self, number: int, step: Step) -> StepResult:
        """Execute a step. Returns its result, also if the step has failed."""
        began = time.monotonic()
        activity = self._activity
        limit_s = min(step.timeout_s, MAX_STEP_TIMEOUT_S)
        deadline = Deadline(min(self._ends.at, began + limit_s))
        activity.begin_step()
        moves = activity.moves
        keyboard, failure = None, None
        try:
            await self._begin_step(step, deadline)
            if isinstance(step, Change) and self._runner.has_secret(step):
                self._camera.has_secrets = True
                if self._cookies_before_secrets is None:
                    self._cookies_before_secrets = self._reader.cookies(await deadline.run(self._context.cookies()))
                await deadline.run(self._guard.watch_all())
            if isinstance(step, Click):
                keyboard = await self._read_keyboard(number, step, deadline)
            await self._log_out_test.before_step(step, keyboard, self._facts.focus)
            await self._recorder.start(number, deadline)
            await self._runner.run(step, deadline)
            await self._runner.finish(step, moves, deadline)
            self._require_allowed_page()
            await self._recorder.finish(deadline)
        except StepFailed as error:
            failure = error
        except ProtocolError as error:
            if str(error) == CLOSED:
                raise
            failure = StepFailed("the page was replaced while the step was executed.")
        except ScriptFailed:
            failure = StepFailed("the page could not be examined in the browser.")
        result = StepResult(
            status=StepStatus.FAILED if failure else StepStatus.DONE,
            url=activity.url,
            duration_s=time.monotonic() - began,
            navigated=activity.moves != moves,
            problem=f"Step {number + 1}: {failure.problem}" if failure else "",
            near_matches=failure.near_matches if failure else (),
            is_unreachable=failure is not None and activity.is_unreachable,
            keyboard=keyboard,
            notes=tuple(activity.notes),
        )
        if failure and failure.problem == BUSY:
            return result  # The page does not answer.
        facts = await self._read_facts(step)
        self._messages += facts.messages
        self._facts = facts
        return replace(
            result,
            picture=await self._pictures.take() if failure else None,
            interaction=None if isinstance(step, Judge) else facts.interaction,
            focus=facts.focus,
            dialogs=facts.dialogs,
            messages=facts.messages,
            silent_messages=facts.silent_messages,
        )

    async def _begin_step(self, step: Step, deadline: Deadline) -> None:
        with contextlib.suppress(ProtocolError, ScriptFailed):  # The page may be loading.
            await deadline.run(self._frames.release_handles())
            world = await deadline.run(self._frames.main())
            await deadline.run(world.call("beginStep", isinstance(step, INPUT_STEPS)))

    async def _read_keyboard(self, number: int, step: Click, deadline: Deadline) -> Any:
        element, _, _ = await self._runner.finder.wait_until_ready(step.target, deadline, step.offset)
        with contextlib.suppress(ProtocolError, ScriptFailed):
            return await deadline.run(self._reader.keyboard_reach(number, element))
        return None

    def _require_allowed_page(self) -> None:
        """Raise `StepFailed` if the page shows a document on which the journey may not act."""
        if self._activity.problem:
            raise StepFailed(self._activity.problem)
        url = self._activity.url
        if url and url != "about:blank" and not self._request.allowed(url):
            raise StepFailed(f"the page has opened {url[:200]}, which is not part of the site.")

    async def _read_facts(self, step: Step) -> StepFacts:
        activity = self._activity
        used = (activity.received_bytes, activity.requests)
        try:
            async with asyncio.timeout(MAX_PARTS_S):
                return await self._reader.read(await self._frames.main(), isinstance(step, INPUT_STEPS), *used)
        except (ProtocolError, ScriptFailed, TimeoutError):
            return StepFacts()

    async def _judge_in_time(self, number: int, name: str) -> None:
        """Judge the page as a state. A page that cannot be judged does not end the journey."""
        if len(self._states) >= self._request.max_states:
            self._left_out_states += 1
            return
        limit_s = min(self._request.state_time_limit_s, self._ends.remaining_s)
        problem = ""
        try:
            await asyncio.wait_for(self._judge(number, name, limit_s), limit_s + STATE_GRACE_S)
        except PageCrashed:
            raise
        except BrowserFailed as error:
            problem = str(error)
        except (ProtocolError, ScriptFailed) as error:
            if str(error) == CLOSED:
                raise
            problem = "The page was replaced or closed while it was examined."
        except TimeoutError:
            problem = "There was not enough time."
        if problem:
            self._notes.append(f"The state “{name or f'Step {number + 1}'}” could not be judged: {problem}")

    async def _judge(self, number: int, name: str, limit_s: float) -> None:
        """Collect the evidence of the page as it stands now, as a state."""
        activity, request, ends = self._activity, self._request, Deadline.after(limit_s)
        await activity.settle(limit_s / 3)
        await wait_for_calm_document(self._page, min(2.0, limit_s / 3))
        is_navigation = activity.documents != self._last_document
        document = activity.document
        evidence = await StateEvidence(
            self._tools, request, self._runner.device, limit_s, self._usage_before, self._pictures.use
        ).collect(document, None if is_navigation else self._last_load, self._metrics, self._recorder.take())
        world = await self._frames.main()
        self._messages += await self._reader.late_messages(world)
        title = evidence.screen.title if evidence.screen else ""
        markup = evidence.layout.markup if evidence.layout else None
        log_out = await self._log_out_test.after_log_out(markup, ends)
        self._states.append(
            State(
                name=unique_name(name or title or f"Step {number + 1}", self._states),
                step=number,
                url=activity.url,
                title=title[:MAX_TITLE_CHARS],
                is_navigation=is_navigation,
                status=document.status,
                evidence=evidence,
                document=markup,
                security=await self._reader.security(
                    world, await self._context.cookies(), document.headers, activity.addresses_with_secrets, log_out
                ),
                focus=self._facts.focus,
                dialogs=self._facts.dialogs,
                messages=tuple(self._messages),
            )
        )
        self._last_document, self._last_load = activity.documents, load_of_requests(document.log.requests())
        self._metrics = await read_metrics(self._page)
        self._usage_before = self._usage()
        self._messages.clear()
        activity.addresses_with_secrets.clear()
        self._console.errors, self._console.exceptions = [], []


class _TooManyRequests(BrowserFailed):
    """Raised when a journey causes more requests than it may."""
