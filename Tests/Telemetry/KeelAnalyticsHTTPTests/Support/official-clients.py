"""Sends one event of each kind with a vendor's own Python client.

    official-clients.py VENDOR URL KEY

Exits with 0 when the client says that everything was taken.
"""

import logging
import sys

VENDOR, URL, KEY = sys.argv[1:4]
FAILURES = []
# Seconds: a busy machine is no reason to give up.
PATIENCE = 300


def segment():
    from segment.analytics.client import Client

    client = Client(
        KEY,
        host=URL,
        gzip=True,
        timeout=PATIENCE,
        max_retries=0,
        on_error=lambda e, _: FAILURES.append(e),
    )
    client.track("user-42", "signed_up", {"plan": "pro"}, anonymous_id="device-1")
    client.screen("user-42", name="Home", properties={"plan": "pro"})
    client.identify("user-42", {"city": "Bern"})
    client.flush()
    client.join()


def mixpanel():
    from mixpanel import Consumer, Mixpanel

    client = Mixpanel(
        KEY,
        Consumer(
            events_url=URL + "/track",
            people_url=URL + "/engage",
            import_url=URL + "/import",
            retry_limit=0,
        ),
    )
    client.track("user-42", "signed_up", {"plan": "pro"})
    client.import_data(None, "user-42", "imported", 1700000000, {"plan": "pro"}, api_secret=KEY)
    client.people_set("user-42", {"city": "Bern"})


def amplitude():
    from amplitude import Amplitude, BaseEvent, EventOptions, Identify, constants

    constants.CONNECTION_TIMEOUT = PATIENCE
    client = Amplitude(KEY)
    client.configuration.server_url = URL + "/2/httpapi"
    client.configuration.flush_max_retries = 1

    def check(event, code, message):
        if code != 200:
            FAILURES.append((event.event_type, code, message))

    client.configuration.callback = check
    client.track(
        BaseEvent(
            "signed_up",
            user_id="user-42",
            device_id="device-1",
            session_id=1795341000000,
            event_properties={"plan": "pro"},
        )
    )
    change = Identify()
    change.set("city", "Bern")
    client.identify(change, EventOptions(user_id="user-42", device_id="device-1"))
    client.shutdown()


def posthog():
    from posthog import Posthog

    client = Posthog(
        KEY,
        host=URL,
        gzip=True,
        timeout=PATIENCE,
        max_retries=0,
        on_error=lambda e, _: FAILURES.append(e),
    )
    client.capture("signed_up", distinct_id="user-42", properties={"plan": "pro"})
    client.capture(
        "$screen", distinct_id="user-42", properties={"$screen_name": "Home", "plan": "pro"}
    )
    client.capture(
        "$identify",
        distinct_id="user-42",
        properties={"$anon_distinct_id": "device-1", "$set": {"city": "Bern"}},
    )
    client.set(distinct_id="user-42", properties={"city": "Bern"})
    client.shutdown()


logging.basicConfig(stream=sys.stderr)
{"segment": segment, "mixpanel": mixpanel, "amplitude": amplitude, "posthog": posthog}[VENDOR]()
if FAILURES:
    sys.exit(str(FAILURES))
