from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.website_scan.cast import message, outcome, rows, verdict
from website_scan.outcomes import Fail
from website_scan.security.checks import mail as checks
from website_scan.security.dmarc import ParentPolicy, is_dmarc_record, parent_policy
from website_scan.security.evidence import MailRecords
from website_scan.security.spf import HostLookup

DOMAIN = "example.com"


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (("v=spf1 include:_spf.example.net -all",), "pass"),
        (("v=spf1 mx ~ALL",), "pass"),
        (("v=spf1 -all",), "pass"),
        (("v=spf1 redirect=_spf.example.net",), "pass"),
        (("v=spf1 include:_spf.example.net",), "unrestricted"),
        (("v=spf1 a ?all",), "unrestricted"),
        # The included name contains “all”, but the mechanism “all” is missing.
        (("v=spf1 include:all.example.net",), "unrestricted"),
        (("v=spf1 +all",), "allows-all"),
        (("v=spf1 a all",), "allows-all"),
        (("v=spf1 -all", "v=spf1 ~all"), "repeated"),
        ((), "missing"),
    ],
)
def test_spf_check_verdict(records: tuple[str, ...], expected: str) -> None:
    finding = checks.spf(MailRecords(DOMAIN, ("10 mx.example.com.",), records))
    assert outcome(finding) == expected
    assert verdict(finding) == {"pass": "pass", "unrestricted": "warn"}.get(expected, "fail")
    assert rows(finding)[: len(records)] == [{"type": "TXT", "record": record} for record in records]


INCLUDED = {
    "good.example.net": ("v=spf1 ip4:192.0.2.0/24 ~all",),
    "none.example.net": (),
    "two.example.net": ("v=spf1 -all", "v=spf1 ~all"),
    "bad.example.net": ("v=spf1 ipv4:192.0.2.1 -all",),
    "open.example.net": ("v=spf1 +all",),
    "neutral.example.net": ("v=spf1 ?all",),
    "half.example.net": ("v=spf1 ip4:128.0.0.0/1 -all",),
    "five.example.net": ("v=spf1 a mx exists:a.example.net ptr a:b.example.net -all",),
    "loop.example.net": ("v=spf1 include:loop.example.net -all",),
}
WARNINGS = {"pass": "pass", "unrestricted": "warn", "ptr": "warn", "large-network": "warn"}
ELEVEN = " ".join(f"include:s{number}.example.net" for number in range(11))


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        # RFC 7208: a syntax error anywhere invalidates the record.
        ("ipv4:192.0.2.0/24 -all", "syntax"),
        ("mxinclude:mail.example.net -all", "syntax"),  # The strings of a TXT record are joined without a space.
        ("-all ip4:192.0.2.300", "syntax"),
        ("ip4:192.0.2.1/33 -all", "syntax"),
        ("ip4:192.0.2.1/ -all", "syntax"),
        ("ip4:192.0.2 -all", "syntax"),
        ("ip4:192.0.2.01 -all", "syntax"),
        ("ip4:2001:db8::1 -all", "syntax"),
        ("ip6:2001:db8::1/129 -all", "syntax"),
        ("ip4 -all", "syntax"),
        ("include -all", "syntax"),
        ("include: -all", "syntax"),
        ("include:localhost -all", "syntax"),
        ("include:192.0.2.1 -all", "syntax"),
        # This domain name is valid in SPF, but cannot have a record.
        ("include:https://example.net -all", "pass"),
        ("a:example.net:8080 -all", "syntax"),
        ("a/024 -all", "syntax"),
        ("a/24/64 -all", "syntax"),
        ("ptr/24 -all", "syntax"),
        ("exists -all", "syntax"),
        ("all:example.net", "syntax"),
        ("-all.", "syntax"),
        ("--all", "syntax"),
        ("- all", "syntax"),
        ("mx;-all", "syntax"),
        ("mx,a -all", "syntax"),
        ("mx\t-all", "syntax"),
        ("redirect=", "syntax"),
        ("redirect=good.example.net redirect=good.example.net", "syntax"),
        ("exp=a.example.net exp=b.example.net -all", "syntax"),
        ("+redirect=good.example.net -all", "syntax"),
        ("exists:%{x}.example.net -all", "syntax"),
        ("exists:%{c}.example.net -all", "syntax"),
        ("exists:%{d0}.example.net -all", "syntax"),
        ("exists:%(i).example.net -all", "syntax"),
        ("include:größe.example.net -all", "syntax"),
        ("“-all”", "syntax"),
        # These SPF records are valid.
        ("colour=blue -all", "pass"),
        ("include=good.example.net -all", "pass"),  # The record has an unknown modifier.
        ("exists:%{ir}.%{v}._spf.%{d2} -all", "pass"),
        # Only zero is no number of labels (RFC 7208, section 7.3).
        ("exists:%{d02}.%{d1000}.example.net -all", "pass"),
        ("exists:%{d00}.example.net -all", "syntax"),
        ("a:%{d}/24 mx//64 a/24//64 -all", "pass"),
        ("ip6:2001:db8::/32 ip4:192.0.2.1 ~all", "pass"),
        ("IP4:192.0.2.1 INCLUDE:GOOD.example.net. -ALL", "pass"),
        ("exp=explain._spf.%{d} -all", "pass"),
        ("  mx   -all  ", "pass"),
        ("a:_spf-1.example.net. -all", "pass"),
        ("mx -all redirect=none.example.net", "pass"),  # `all` cancels redirect (section 6.1).
        ("-all include:none.example.net", "pass"),  # Terms after `all` do not count (section 5.1).
        ("ptr -all", "ptr"),
        # RFC 7208, section 4.6.4: ten look-ups are allowed in all records together.
        (f"{ELEVEN} -all", "lookups"),
        (f"{ELEVEN.rpartition(' ')[0]} -all", "pass"),
        ("a mx exists:a.example.net a:b.example.net include:five.example.net -all", "pass"),
        ("a mx exists:a.example.net a:b.example.net a:c.example.net include:five.example.net -all", "lookups"),
        ("a mx exists:a.example.net a:b.example.net a:c.example.net redirect=five.example.net", "lookups"),
        ("include:loop.example.net -all", "lookups"),
        # These records refer to other records (RFC 7208, sections 5.2 and 6.1).
        ("include:good.example.net -all", "pass"),
        ("include:none.example.net -all", "include"),
        ("redirect=none.example.net", "include"),
        ("include:two.example.net -all", "include"),
        ("include:bad.example.net -all", "syntax"),
        ("redirect=good.example.net", "pass"),
        ("redirect=neutral.example.net", "unrestricted"),
        ("redirect=open.example.net", "allows-all"),
        ("include:neutral.example.net -all", "pass"),
        # These policies let every IP address send.
        ("ip4:0.0.0.0/0 -all", "allows-all"),
        ("ip4:203.0.113.7/0 -all", "allows-all"),
        ("ip6:::/0 -all", "allows-all"),
        ("ip4:0.0.0.0/1 ip4:128.0.0.0/1 -all", "allows-all"),
        ("ip4:0.0.0.0/1 include:half.example.net -all", "allows-all"),
        ("a/0 -all", "allows-all"),
        ("mx//0 -all", "allows-all"),
        ("include:open.example.net -all", "allows-all"),
        ("?ip4:0.0.0.0/0 -all", "pass"),
        ("-include:open.example.net ~all", "pass"),
        ("ip4:10.0.0.0/8 -all", "pass"),
        ("-all ip4:0.0.0.0/0", "pass"),
        ("ip4:96.0.0.0/7 -all", "large-network"),
        ("ip4:96.0.0.0/8 ip4:97.0.0.0/8 -all", "large-network"),
        ("ip4:96.0.0.0/8 -all", "pass"),
        ("ip6:2000::/3 -all", "large-network"),
        ("ip6:2630::/16 -all", "pass"),
        ("?ip4:96.0.0.0/7 -all", "pass"),
    ],
)
def test_spf_record_is_read_by_its_grammar(record: str, expected: str) -> None:
    """RFC 7208.

    The authors' test suite (pyspf) agrees where the result does not depend on the sender.
    """
    finding = checks.spf(MailRecords(DOMAIN, (), (f"v=spf1 {record}",), included_spf=INCLUDED))
    assert outcome(finding) == expected
    assert verdict(finding) == WARNINGS.get(expected, "fail")


@given(st.text(max_size=100))
def test_spf_check_accepts_any_text(text: str) -> None:
    checks.spf(MailRecords(DOMAIN, (), (f"v=spf1 {text}",), included_spf={"a.b": (f"v=spf1 {text}",)}))


def test_spf_table_lists_look_ups_of_all_records() -> None:
    records = {"inc.test": ("v=spf1 a:1.test -all",)}
    counts = _hosts(("A", "1.test", 2))
    mail = MailRecords(DOMAIN, spf=("v=spf1 include:inc.test exists:%{i}.x.test -all",), included_spf=records)
    finding = checks.spf(replace(mail, host_counts=counts))
    assert rows(finding)[1:] == [
        {"number": 1, "term": "include:inc.test", "domain": DOMAIN, "level": 1, "result": "SPF record"},
        {"number": 2, "term": "a:1.test", "domain": "inc.test", "level": 2, "result": "2 records"},
        {"number": 3, "term": "exists:%{i}.x.test", "domain": DOMAIN, "level": 1},
    ]
    assert "3 DNS look-ups" in message(finding)


def test_spf_table_ends_at_limit() -> None:
    loop = {"loop.test": ("v=spf1 include:loop.test -all",)}
    finding = checks.spf(MailRecords(DOMAIN, spf=("v=spf1 include:loop.test -all",), included_spf=loop))
    assert outcome(finding) == "lookups"
    assert [row["number"] for row in rows(finding)[1:]] == list(range(1, 12))
    assert rows(finding)[-1]["result"] == "beyond the limit"


def test_long_spf_record_is_not_read() -> None:
    record = "v=spf1 " + "ip4:192.0.2.1 " * 400
    assert outcome(checks.spf(MailRecords(DOMAIN, spf=(record[:4096],)))) == "long"


@pytest.mark.parametrize(
    ("mx", "record", "expected"),
    [
        ("0 .", "v=spf1 -all", "pass"),
        ("0 .", "v=spf1 ~all", "null-mx"),
        ("0 .", "v=spf1 ip4:192.0.2.1 -all", "null-mx"),
        ("10 mx.example.com.", "v=spf1 ~all", "pass"),
    ],
)
def test_spf_of_domain_without_mail_refuses_all(mx: str, record: str, expected: str) -> None:
    """RFC 7505, section 4.2."""
    assert outcome(checks.spf(MailRecords(DOMAIN, (mx,), (record,)))) == expected


def _hosts(*counts: tuple[str, str, int]) -> dict[HostLookup, int]:
    return {HostLookup(type, name): count for type, name, count in counts}


@pytest.mark.parametrize(
    ("record", "host_counts", "expected"),
    [
        ("v=spf1 a:1.test a:2.test -all", _hosts(("A", "1.test", 0), ("A", "2.test", 0)), "pass"),
        (
            "v=spf1 a:1.test mx:2.test a:3.test -all",
            _hosts(("A", "1.test", 0), ("MX", "2.test", 0), ("A", "3.test", 0)),
            "lookups",
        ),
        # A name counts twice in two terms. Without a name, `a` and `mx` use the domain.
        ("v=spf1 a:1.test a:1.test a:1.test -all", _hosts(("A", "1.test", 0)), "lookups"),
        ("v=spf1 a mx a:1.test -all", _hosts(("A", DOMAIN, 0), ("MX", DOMAIN, 0), ("A", "1.test", 0)), "lookups"),
        ("v=spf1 a mx -all", _hosts(("A", DOMAIN, 0), ("MX", DOMAIN, 0)), "pass"),
        ("v=spf1 a:1.test a:2.test a:3.test -all", _hosts(("A", "1.test", 0), ("A", "2.test", 0)), "pass"),  # unknown
        ("v=spf1 a:1.test a:2.test a:3.test -all", _hosts(("A", "1.test", 0), ("A", "3.test", 1)), "pass"),
        # Terms after `all` do not count.
        ("v=spf1 -all a:1.test a:1.test a:1.test", _hosts(("A", "1.test", 0)), "pass"),
        ("v=spf1 mx -all", _hosts(("MX", DOMAIN, 10)), "pass"),
        ("v=spf1 mx -all", _hosts(("MX", DOMAIN, 11)), "lookups"),
        ("v=spf1 a -all", _hosts(("A", DOMAIN, 11)), "pass"),
    ],
)
def test_spf_host_look_ups_are_limited(record: str, host_counts: dict[HostLookup, int], expected: str) -> None:
    """RFC 7208, section 4.6.4.

    At most two void look-ups and ten mail servers for each `mx` are allowed.
    """
    finding = checks.spf(MailRecords(DOMAIN, spf=(record,), host_counts=host_counts))
    assert outcome(finding) == expected


def test_spf_message_names_empty_look_up() -> None:
    records = {"inc.test": ("v=spf1 a:1.test a:2.test/24 ?all",)}
    counts = _hosts(("A", "1.test", 0), ("A", "2.test", 0))
    mail = MailRecords(DOMAIN, spf=("v=spf1 a:1.test include:inc.test -all",), included_spf=records, host_counts=counts)
    assert "“a:2.test/24” in the record of inc.test" in message(checks.spf(mail))


def test_spf_message_names_faulty_term() -> None:
    finding = checks.spf(MailRecords(DOMAIN, (), ("v=spf1 include:bad.example.net -all",), included_spf=INCLUDED))
    assert "bad.example.net" in message(finding)
    assert "ipv4:192.0.2.1" in message(finding)


@pytest.mark.parametrize("mx", [(), ("0 .",)])
def test_domain_without_mail_gets_spf_fix(mx: tuple[str, ...]) -> None:
    finding = checks.spf(MailRecords(DOMAIN, mx))
    assert isinstance(finding, Fail)
    assert outcome(finding) == "missing"
    assert "receives no mail" in message(finding)
    assert finding.fix is not None
    assert '`"v=spf1 -all"`' in finding.fix.text


@pytest.mark.parametrize(
    ("records", "expected_verdict", "expected"),
    [
        (("v=DMARC1; p=reject; rua=mailto:a@example.com",), "pass", "pass"),
        (("v=DMARC1;p=QUARANTINE",), "pass", "pass"),
        (("v=DMARC1; p=quarantine; pct=10",), "pass", "pass"),
        (("v=DMARC1; p=none; sp=reject",), "warn", "monitors-only"),
        # RFC 9989, section 4.7: subdomains that do not exist have their own policy.
        (("v=DMARC1; p=reject; sp=none",), "warn", "monitors-only"),
        (("v=DMARC1; p=reject; sp=none; np=reject",), "pass", "pass"),
        (("v=DMARC1; p=reject; sp=reject; np=none",), "warn", "monitors-only"),
        (("v=DMARC1; p=reject; sp=quarantine",), "pass", "pass"),
        (("v=DMARC1; p=quarantine; pct=0",), "warn", "applies-to-none"),
        # RFC 9989, section 4.7: `t=y` weakens the policy by one step.
        (("v=DMARC1; p=quarantine; t=y",), "warn", "applies-to-none"),
        (("v=DMARC1; T = Y; p=quarantine",), "warn", "applies-to-none"),
        (("v=DMARC1; p=quarantine; t=n",), "pass", "pass"),
        (("v=DMARC1; p=reject; t=y",), "pass", "pass"),
        (("v=DMARC1; p=reject; sp=quarantine; t=y",), "warn", "monitors-only"),
        (("v=DMARC1; p=reject; sp=reject; t=y",), "pass", "pass"),
        (("v=DMARC1; p=reject; pct=0",), "pass", "pass"),  # RFC 7489, section 6.6.4
        (("v=DMARC1; p=none; t=y",), "warn", "monitors-only"),
        # RFC 9989, section 4.8: spaces, order and unknown tags do not matter.
        (("v = DMARC1 ; p = reject",), "pass", "pass"),
        (("v=DMARC1;rua=mailto:a@example.com;x=y;p=reject;",), "pass", "pass"),
        (("v=DMARC1; np=reject; psd=n; P=Reject",), "pass", "pass"),
        (("v=DMARC1; p=reject; pct=many; ri=x; fo=?",), "pass", "pass"),  # Faults of these DMARC tags do not matter.
        (("v=DMARC1; p=reject;; ;",), "pass", "pass"),
        # RFC 7489, section 6.6.3: an invalid subdomain policy invalidates the record.
        (("v=DMARC1; p=reject; sp=no",), "fail", "invalid"),
        (("v=DMARC1; p=reject; np=no; rua=mailto:a@example.com",), "warn", "invalid"),
        (("v=DMARC1; p=reject sp=none",), "fail", "invalid"),
        (("v=DMARC1",), "fail", "invalid"),
        # RFC 6376, section 3.2: a repeated tag invalidates the list of tags.
        (("v=DMARC1; p=none; p=reject",), "fail", "invalid"),
        (("v=DMARC1; rua=mailto:a@example.com",), "warn", "invalid"),  # Receivers treat the record like p=none.
        (("v=DMARC1; p=drop; rua=mailto:a@example.com",), "warn", "invalid"),
        (("v=DMARC1; p=drop",), "fail", "invalid"),
        (("v=DMARC1; p=reject; psd=y",), "warn", "public-suffix"),
        (("v=DMARC1; p=reject; psd=u",), "pass", "pass"),
        (("v=DMARC1; p=reject", "v=DMARC1; p=none"), "fail", "repeated"),
        ((), "fail", "missing"),
    ],
)
def test_dmarc_check_verdict(records: tuple[str, ...], expected_verdict: str, expected: str) -> None:
    finding = checks.dmarc(MailRecords(DOMAIN, dmarc=records))
    assert (verdict(finding), outcome(finding)) == (expected_verdict, expected)
    assert rows(finding) == [{"type": "TXT", "record": record} for record in records]


@pytest.mark.parametrize(
    ("parent", "expected"),
    [
        (ParentPolicy("bank", "v=DMARC1; p=reject; psd=y"), "pass"),
        (ParentPolicy("gov.uk", "v=DMARC1; p=none; sp=quarantine"), "pass"),
        (ParentPolicy("gov.uk", "v=DMARC1; p=reject; sp=none"), "missing"),
        (ParentPolicy("gov.uk", "v=DMARC1; p=reject; sp=none; np=reject"), "missing"),  # The domain exists.
        (ParentPolicy("gov.uk", "v=DMARC1; p=none"), "missing"),
        # t=y makes each policy one level weaker (RFC 9989, section 4.7).
        (ParentPolicy("gov.uk", "v=DMARC1; p=quarantine; t=y"), "missing"),
        (ParentPolicy("gov.uk", "v=DMARC1; p=reject; sp=quarantine; t=y"), "missing"),
        (ParentPolicy("gov.uk", "v=DMARC1; p=reject; t=y"), "pass"),
        (ParentPolicy("gov.uk", "v=DMARC1; p=quarantine; pct=0"), "missing"),
        (ParentPolicy("gov.uk", "v=DMARC1; p=none; p=reject"), "missing"),  # A repeated tag makes a record invalid.
        (ParentPolicy("gov.uk", "v=DMARC1; p=refuse"), "missing"),
        (None, "missing"),
    ],
)
def test_parent_policy_applies_to_domain(parent: ParentPolicy | None, expected: str) -> None:
    """RFC 9989, section 4.10.1.

    The `sp` of an organizational or public suffix domain applies, else its `p`.
    """
    finding = checks.dmarc(MailRecords(DOMAIN, parent_dmarc=parent))
    assert outcome(finding) == expected


@pytest.mark.parametrize(
    ("domain", "records", "expected"),
    [
        ("shop.bank", {"bank": "v=DMARC1; p=reject; psd=y"}, "bank"),
        ("shop.gov.uk", {"gov.uk": "v=DMARC1; p=reject", "uk": "v=DMARC1; p=none"}, "uk"),
        ("shop.gov.uk", {"gov.uk": "v=DMARC1; p=reject; psd=n", "uk": "v=DMARC1; p=none"}, "gov.uk"),
        ("shop.gov.uk", {"gov.uk": "v=DMARC1; p=reject; psd=y", "uk": "v=DMARC1; p=none; psd=y"}, "gov.uk"),
        ("shop.gov.uk", {"gov.uk": "v=DMARC1; p=reject", "uk": "v=DMARC1; p=none; psd=y"}, "gov.uk"),
        ("a.b.gov.uk", {"b.gov.uk": "v=DMARC1; p=reject", "uk": "v=DMARC1; p=none; psd=y"}, "uk"),
        ("shop.bank", {"bank": "v=dmarc1; p=reject"}, None),
        ("shop.bank", {"shop.bank": "v=DMARC1; p=reject"}, None),  # The walk begins above the domain.
        ("1.2.3.4.5.6.7.8.bank", {"2.3.4.5.6.7.8.bank": "v=DMARC1; p=reject"}, None),  # It has at most eight queries.
        ("shop.example", {}, None),
    ],
)
def test_tree_walk_finds_parent_policy(domain: str, records: dict[str, str], expected: str | None) -> None:
    """RFC 9989, sections 4.10 and 4.10.2."""
    asked: list[str] = []

    def texts_of(name: str) -> list[str]:
        asked.append(name)
        record = records.get(name.removeprefix("_dmarc."))
        return ["unrelated", record] if record else []

    found = parent_policy(domain, texts_of)
    assert (found and found.domain) == expected
    assert len(asked) <= 7
    assert f"_dmarc.{domain}" not in asked


def test_parent_with_several_records_has_no_policy() -> None:
    assert parent_policy("shop.bank", lambda name: ["v=DMARC1; p=reject", "v=DMARC1; p=none"]) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("v=DMARC1; p=reject", True),
        ("v = DMARC1 ; p = reject", True),
        ("V\t=\tDMARC1;p=none", True),
        ("v=DMARC1", True),
        ("v=dmarc1; p=reject", False),
        ("v=DMARC2; p=reject", False),
        ("v=DMARC1 p=reject", False),
        ("v=DMARC1, p=reject", False),
        (" v=DMARC1; p=reject", False),
        ('"v=DMARC1; p=reject"', False),
        ("p=reject; v=DMARC1", False),
        ("v=spf1 -all", False),
        ("", False),
    ],
)
def test_dmarc_record_begins_with_version(text: str, expected: bool) -> None:
    """RFC 9989, section 4.8, and RFC 7489, sections 6.3 and 6.4.

    The version comes first and is case-sensitive.
    """
    assert is_dmarc_record(text) is expected


@pytest.mark.parametrize(("percent", "share"), [("", "100%"), ("; pct=10", "10%"), ("; pct=250", "100%")])
def test_dmarc_message_names_share_of_mail(percent: str, share: str) -> None:
    finding = checks.dmarc(MailRecords(DOMAIN, dmarc=(f"v=DMARC1; p=quarantine{percent}",)))
    assert f"p=quarantine applies to {share} of forged mail" in message(finding)
