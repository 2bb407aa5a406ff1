"""Faults of many kinds are found, and the same sentences in other forms are not marked."""

import time

import pytest

from chains.claims.check import check_claims
from chains.claims.evidence import ClaimEvidence
from chains.claims.report import AnswerClaim
from tests.support.sessions.sent_text import send_text

# What a note says, what an answer changes of it, and what says the same in other words.
KINDS: list[tuple[str, str, tuple[str, ...]]] = [
    (
        "The cache holds 512 MB per worker before it is flushed.",
        "The cache holds 512 GB per worker before it is flushed.",
        (
            "Each worker's cache holds 512 MB before a flush.",
            "The cache holds 0.5 GiB per worker before it is flushed.",
        ),
    ),
    (
        "The hose for the garden is 25 m long and was bought in Lyon.",
        "The hose for the garden is 25 km long and was bought in Lyon.",
        ("The garden hose is 25 metres long.",),
    ),
    (
        "A backup of the server takes 45 minutes on average.",
        "A backup of the server takes 45 hours on average.",
        (
            "On average, backing up the server takes 45 min.",
            "A backup takes 0.75 hours on average.",
        ),
    ),
    (
        "Add 250 g of flour to the dough and let it rest.",
        "Add 250 kg of flour to the dough and let it rest.",
        ("Add 0.25 kg of flour to the dough.",),
    ),
    (
        "The block gas limit was raised to 30 million gas in August.",
        "The block gas limit was raised to 30 billion gas in August.",
        ("The block gas limit was raised to 30,000,000 gas in August.",),
    ),
    (
        "The foundation received 1.2 million euros from donors last year.",
        "The foundation received 1.2 billion euros from donors last year.",
        (
            "Last year donors gave the foundation 1,200,000 euros.",
            "The foundation received 1.2M euros from donors last year.",
        ),
    ),
    (
        "The archive has 38,404 pages in total.",
        "The archive has 38 pages in total.",
        ("The archive has about 38k pages in total.",),
    ),
    (
        "The contract size limit is 24,576 bytes for deployed code.",
        "The contract size limit is 24,576 million bytes for deployed code.",
        ("The contract size limit is 24,576 bytes for code that is deployed.",),
    ),
    (
        "Refunds are capped at 5k gas for each call.",
        "Refunds are capped at 5 million gas for each call.",
        ("Refunds are capped at 5,000 gas for each call.",),
    ),
    (
        "The new codec makes the files 20 % smaller than before.",
        "The new codec makes the files 20 times smaller than before.",
        ("With the new codec files are 20 percent smaller.",),
    ),
    (
        "The base fee may change by 12.5 % per block at most.",
        "The base fee may change by 125 % per block at most.",
        ("Per block, the base fee changes by 12.5% at most.",),
    ),
    (
        "Search is 3 times faster with the new index.",
        "Search is 3 % faster with the new index.",
        ("Search is three times faster with the new index.",),
    ),
    (
        "The workshop takes place on 14 May 2025 in the old hall.",
        "The workshop takes place on Friday, 14 May 2025 in the old hall.",
        ("The workshop takes place on Wednesday, 14 May 2025 in the old hall.",),
    ),
    (
        "The meeting with Ana is on Tuesday at the library.",
        "The meeting with Ana is on Thursday at the library.",
        ("Ana's meeting is on Tuesday at the library.",),
    ),
    (
        "The fork was activated on 2022-09-15 at noon.",
        "The fork was activated on Monday, 15 September 2022 at noon.",
        ("The fork was activated on Thursday, 15 September 2022.",),
    ),
    (
        "Waste is collected every Monday before seven.",
        "Waste is collected every Wednesday before seven.",
        ("Every Monday, waste is collected before seven.",),
    ),
    (
        "Marta finished third in the race in Porto.",
        "Marta finished second in the race in Porto.",
        ("Marta came third in the race in Porto.",),
    ),
    (
        "The 3rd phase of the rollout begins after the audit.",
        "The 5th phase of the rollout begins after the audit.",
        ("The third phase of the rollout begins after the audit.",),
    ),
    (
        "The proposal is discussed in the 12th meeting of the group.",
        "The proposal is discussed in the 21st meeting of the group.",
        ("The proposal is discussed in the group's 12th meeting.",),
    ),
    (
        "Louis XIV ordered the gardens of the palace in 1661.",
        "Louis XVI ordered the gardens of the palace in 1661.",
        ("In 1661 Louis XIV ordered the gardens of the palace.",),
    ),
    (
        "Phase II of the renovation covers the roof and the attic.",
        "Phase III of the renovation covers the roof and the attic.",
        ("Phase 2 of the renovation covers the roof and the attic.",),
    ),
    (
        "Chapter IV describes the storage of the seeds in winter.",
        "Chapter VI describes the storage of the seeds in winter.",
        ("Chapter IV describes how seeds are stored in winter.",),
    ),
    (
        "The tomatoes need 5-7 litres of water per week in summer.",
        "The tomatoes need 5-9 litres of water per week in summer.",
        (
            "In summer the tomatoes need 5 to 7 litres of water per week.",
            "The tomatoes need between 5 and 7 litres of water per week in summer.",
        ),
    ),
    (
        "Validators wait between 16 and 32 epochs before they exit.",
        "Validators wait between 16 and 64 epochs before they exit.",
        ("Validators wait 16–32 epochs before they exit.",),
    ),
    (
        "Store the wine at 10 to 14 °C in the dark cellar.",
        "Store the wine at 10 to 24 °C in the dark cellar.",
        ("Store the wine in the dark cellar at 10–14 °C.",),
    ),
    (
        "The client supports batch requests over the socket.",
        "The client does not support batch requests over the socket.",
        ("Batch requests over the socket are supported by the client.",),
    ),
    (
        "Nodes must reject blocks with an empty header field.",
        "Nodes must not reject blocks with an empty header field.",
        ("Nodes must reject blocks that have an empty header field.",),
    ),
    (
        "The old key never expires and works on all devices.",
        "The old key expires and works on all devices.",
        ("The old key never expires and it works on all devices.",),
    ),
    (
        "The landlord refused to repair the heating in March.",
        "The landlord agreed to repair the heating in March.",
        ("In March the landlord refused to repair the heating.",),
    ),
    (
        "Nobody has paid the invoice of the roofer so far.",
        "Somebody has paid the invoice of the roofer so far.",
        ("So far, nobody has paid the roofer's invoice.",),
    ),
    (
        "Ana Souza repairs the pump on Friday. Piotr Nowak paints the fence on Saturday.",
        "Piotr Nowak repairs the pump on Friday. Ana Souza paints the fence on Saturday.",
        ("Ana Souza repairs the pump on Friday, and Piotr Nowak paints the fence on Saturday.",),
    ),
    (
        "Berlin hosts the summit in June. Lisbon hosts the fair in October.",
        "Lisbon hosts the summit in June. Berlin hosts the fair in October.",
        ("The summit is in Berlin in June. The fair is in Lisbon in October.",),
    ),
    (
        "Geth uses a trie cache of its own. Nethermind uses a flat database for storage.",
        "Nethermind uses a trie cache of its own. Geth uses a flat database for storage.",
        ("Geth uses its own trie cache. Nethermind uses a flat database for storage.",),
    ),
    (
        "Rent is 840 € per month. Heating is 120 € per month.",
        "Rent is 120 € per month. Heating is 840 € per month.",
        ("Heating is 120 € per month. Rent is 840 € per month.",),
    ),
    (
        "The script lives in tools/Backup/run_all.sh and writes a log.",
        "The script lives in tools/backup2/run_all.sh and writes a log.",
        ("The script lives in tools/Backup/run_all.sh.",),
    ),
    (
        "Copy the file ~/Notes/Config.yaml to the server first.",
        "Copy the file ~/Notes/Settings.yaml to the server first.",
        ("First copy ~/Notes/Config.yaml to the server.",),
    ),
    (
        "Logs are written to /var/log/strata/daily.log each night.",
        "Logs are written to /var/log/strata/weekly.log each night.",
        ("Each night, logs go to `/var/log/strata/daily.log`.",),
    ),
    (
        "The build needs Python 3.11.7 and a recent compiler.",
        "The build needs Python 3.12.7 and a recent compiler.",
        ("A recent compiler and Python 3.11.7 are needed for the build.",),
    ),
    (
        "Solidity 0.8.19 introduced user-defined operators for types.",
        "Solidity 0.8.91 introduced user-defined operators for types.",
        ("User-defined operators came with Solidity 0.8.19.",),
    ),
    (
        "The router runs firmware v2.4.1 since last week.",
        "The router runs firmware v2.1.4 since last week.",
        ("Since last week, the router runs firmware v2.4.1.",),
    ),
    (
        "The API moved from v1 to v3 after the review of the board.",
        "The API moved from v1 to v2 after the review of the board.",
        ("After the board's review the API moved from v1 to v3.",),
    ),
    (
        "The train to Zagreb leaves at 14:30 from platform four.",
        "The train to Zagreb leaves at 4:30 pm from platform four.",
        (
            "The train to Zagreb leaves at 2:30 pm from platform four.",
            "The train to Zagreb leaves from platform four at 14.30.",
        ),
    ),
    (
        "The shop closes at 7 pm on weekdays.",
        "The shop closes at 7 am on weekdays.",
        (
            "On weekdays the shop closes at 19:00.",
            "Le magasin ferme à 19 h en semaine.",
        ),
    ),
    (
        "Dinner with the Kowalskis is at 18:45 in the garden.",
        "Dinner with the Kowalskis is at 8:45 pm in the garden.",
        ("Dinner with the Kowalskis is at 6:45 p.m. in the garden.",),
    ),
    (
        "The nightly job starts at 00:15 and ends before dawn.",
        "The nightly job starts at 12:15 pm and ends before dawn.",
        ("The nightly job starts at 12:15 am and ends before dawn.",),
    ),
    (
        "The new boiler costs $4,200 including the fitting.",
        "The new boiler costs €4,200 including the fitting.",
        ("Including fitting, the new boiler costs 4,200 dollars.",),
    ),
    (
        "We paid £310 for the tickets to the opera.",
        "We paid $310 for the tickets to the opera.",
        ("We paid 310 pounds for the opera tickets.",),
    ),
    (
        "The deposit for the flat is 1,500 € in cash.",
        "The deposit for the flat is 1,500 $ in cash.",
        (
            "The deposit for the flat is 1.500 Euro in cash.",
            "The flat's deposit is EUR 1,500 in cash.",
        ),
    ),
    (
        "The probation period lasts six months for all staff.",
        "The probation period lasts six weeks for all staff.",
        (
            "For all staff, the probation period lasts half a year.",
            "The probation period lasts 6 months for all staff.",
        ),
    ),
    (
        "The exam takes 90 minutes and has two parts.",
        "The exam takes 90 seconds and has two parts.",
        (
            "The exam takes an hour and a half and has two parts.",
            "The exam takes 1.5 hours and has two parts.",
        ),
    ),
    (
        "The bread rises for 2 hours at room temperature.",
        "The bread rises for 2 days at room temperature.",
        ("The bread rises for 120 minutes at room temperature.",),
    ),
    (
        "The contract runs for 24 months from the first of July.",
        "The contract runs for 24 weeks from the first of July.",
        ("The contract runs for two years from the first of July.",),
    ),
    (
        "The update increased the memory use of the indexer by 300 MB.",
        "The update decreased the memory use of the indexer by 300 MB.",
        ("Memory use of the indexer grew by 300 MB with the update.",),
    ),
    (
        "The lease for the workshop ends in November 2026.",
        "The lease for the workshop ends in December 2026.",
        ("The workshop's lease ends in November 2026.",),
    ),
    (
        "Sales of honey doubled in Q3 of that year.",
        "Sales of honey doubled in Q4 of that year.",
        ("In the third quarter of that year, sales of honey doubled.",),
    ),
    (
        "Seven of the twelve members voted for the plan.",
        "Nine of the twelve members voted for the plan.",
        ("7 of the 12 members voted for the plan.",),
    ),
    (
        "The table in the hall measures 200 x 90 cm.",
        "The table in the hall measures 200 x 80 cm.",
        (),
    ),
    (
        "The river was 1.8 m above its usual level.",
        "The river was 18 m above its usual level.",
        ("The river was 180 cm above its usual level.",),
    ),
    (
        "The plumber can be reached at 0171 5550134 in the evening.",
        "The plumber can be reached at 0171 5550143 in the evening.",
        ("In the evening the plumber can be reached at 01715550134.",),
    ),
    (
        "The transaction is 0x9f2c41ab and was mined in time.",
        "The transaction is 0x9f2c41ba and was mined in time.",
        ("The transaction 0x9f2c41ab was mined in time.",),
    ),
    (
        "My aunt turned 64 in the spring of that year.",
        "My aunt turned 46 in the spring of that year.",
        ("In spring of that year my aunt turned 64.",),
    ),
    (
        "At night it was -8 °C on the terrace.",
        "At night it was 8 °C on the terrace.",
        ("At night it was minus 8 °C on the terrace.",),
    ),
    (
        "The call with the team starts at 9:00 UTC each Monday.",
        "The call with the team starts at 9:00 CET each Monday.",
        ("Each Monday the team's call starts at 9:00 UTC.",),
    ),
]
SAME = [(sent, said) for sent, _wrong, others in KINDS for said in (sent, *others)]


def mark(answer: str, *sent: str) -> list[AnswerClaim]:
    """Return the claims of an answer that are unsupported or contradicted."""
    lines = "\n".join(("# Log", "", "Some lines of that day.", *sent, "Nothing else was done."))
    note = send_text(lines, "Journal/Log.md", 1)
    other = send_text("# Shed\n\nThe shed has two doors and a roof of tin.", "Shed.md", 2)
    claims = check_claims(f"{answer} [1]", ClaimEvidence((note, other), sources=(1, 2))).claims
    return [one for one in claims if one.verdict in ("unsupported", "contradicted")]


@pytest.mark.parametrize(("sent", "wrong"), [kind[:2] for kind in KINDS])
def test_a_changed_sentence_is_marked(sent: str, wrong: str) -> None:
    assert mark(wrong, sent)


@pytest.mark.parametrize(("sent", "said"), SAME)
def test_the_same_in_other_words_is_not_marked(sent: str, said: str) -> None:
    assert not mark(said, sent)


def test_a_word_is_named_beside_that_of_the_source() -> None:
    (claim,) = mark(
        "The meeting is on Thursday at the library.", "The meeting is on Tuesday at the library."
    )
    assert (claim.kind, claim.text, claim.verdict) == ("date", "Thursday", "contradicted")
    assert claim.reason == "Log, line 4 says Tuesday"


def test_a_wrong_weekday_is_computed() -> None:
    (claim,) = mark("The fair is on Friday, 14 May 2025.", "The fair is on 14 May 2025.")
    assert (claim.verdict, claim.reason) == ("contradicted", "14 May 2025 is a Wednesday")


@pytest.mark.parametrize(
    "sent",
    [
        ("The fair is on Friday, 14 May 2025.",),
        ("The fair is on 14 May 2025.", "Friday is a holiday."),
    ],
)
def test_a_wrong_weekday_that_the_note_may_have_said_is_not_accused(sent: tuple[str, ...]) -> None:
    assert not mark("The fair is on Friday, 14 May 2025.", *sent)


@pytest.mark.parametrize(
    ("answer", "sent"),
    [
        # First and last name, an abbreviation, a word that is no name, and two notes of two things.
        (
            "Buterin wrote the draft of the paper.",
            ("Vitalik wrote the draft of the paper.", "By Vitalik Buterin."),
        ),
        (
            "The WHO wrote the draft of it.",
            ("World Health Organization wrote the draft of it.", "See the WHO."),
        ),
        (
            "She repairs the pump on the roof.",
            ("Ana repairs the pump on the roof.", "She is here."),
        ),
        (
            "Ana paints the fence in the yard.",
            ("Ana paints the fence in the yard.", "Piotr paints the fence in the yard."),
        ),
        (
            "The first coat dries in the sun.",
            ("The first coat dries in the sun.", "The second coat dries in the sun."),
        ),
        ("The pump is louder than it was.", ("The pump is noisier than it was.",)),
    ],
)
def test_what_may_be_right_is_not_accused(answer: str, sent: tuple[str, ...]) -> None:
    assert not [claim for claim in mark(answer, *sent) if claim.verdict == "contradicted"]


TURNED: list[tuple[str, str]] = [
    ("Validation runs before compression here.", "Compression runs after validation here."),
    ("The sink is left of the oven in the house.", "The oven is right of the sink in the house."),
    ("Ben is older than Clara by four years.", "Clara is younger than Ben by four years."),
    ("Anna won the final against Ben in Porto.", "Ben lost the final against Anna in Porto."),
    ("The dorm is north of the lake and the mill.", "The lake and the mill are south of the dorm."),
    (
        "The valve must be closed before the pump is started.",
        "The pump must be started after the valve is closed.",
    ),
    (
        "Le chauffage démarre toujours avant la pompe.",
        "La pompe démarre toujours après le chauffage.",
    ),
    ("Die Pumpe läuft stets vor dem Gebläse an.", "Das Gebläse läuft stets nach der Pumpe an."),
]


@pytest.mark.parametrize(("sent", "said"), TURNED)
def test_a_relation_told_from_the_other_side_is_not_marked(sent: str, said: str) -> None:
    assert not mark(said, sent)


@pytest.mark.parametrize(
    ("sent", "wrong"),
    [
        ("Validation runs before compression here.", "Validation runs after compression here."),
        ("Ben is older than Clara by four years.", "Ben is younger than Clara by four years."),
        (
            "The mill pond is north of the lake and the barn.",
            "The mill pond is south of the lake and the barn.",
        ),
    ],
)
def test_a_relation_turned_round_is_marked(sent: str, wrong: str) -> None:
    assert [claim.kind for claim in mark(wrong, sent)] == ["negation"]


@pytest.mark.parametrize(
    ("answer", "sent"),
    [
        (
            "The concert is on Friday night in the hall.",
            ("The concert is on Friday evening in the hall.",),
        ),
        ("The client may not retry the request.", ("The client must not retry the request.",)),
        (
            "Doors should be locked after ten at night.",
            ("Doors must be locked after ten at night.",),
        ),
        (
            "Ms Meier leads the study of the lake.",
            ("Dr. Anna Meier leads the study of the lake.", "Ms Meier lives in Graz."),
        ),
        (
            "The fair takes place in Austria in autumn.",
            ("The fair takes place in Vienna in autumn.", "Vienna is the capital of Austria."),
        ),
        (
            "The house is in München near the river.",
            ("The house is in Munich near the river.", "The city of München has bridges."),
        ),
        (
            "The Council approved the plan for the roof.",
            ("The Board approved the plan for the roof.", "The Council met in spring."),
        ),
        (
            "Der Doktor verschrieb ihm gestern noch starke Tabletten gegen die Schmerzen.",
            (
                "Der Arzt verschrieb ihm gestern noch starke Tabletten gegen die Schmerzen.",
                "Ein Doktor aus Bonn rief an.",
            ),
        ),
    ],
)
def test_another_word_for_the_same_is_not_marked(answer: str, sent: tuple[str, ...]) -> None:
    assert not mark(answer, *sent)


def test_names_that_a_list_has_are_still_told_apart() -> None:
    said = "Today Ana repairs the old pump in the yard.", "Ana and Piotr are here."
    (claim,) = mark("Today Piotr repairs the old pump in the yard.", *said)
    assert (claim.kind, claim.text, claim.verdict) == ("name", "Piotr", "contradicted")


def test_many_names_are_compared_in_a_bounded_time() -> None:
    names = [f"{first}{second}" for first in "BCDFGHKLMN" for second in ("ada", "eni", "olo")]
    said = "Today {} repairs the old pump of the garden near the river with stones."
    lines = "\n\n".join(said.format(name) for name in names)
    texts = [send_text(f"{lines}\n\nZoe is here.", f"{at}.md", at) for at in range(1, 61)]
    answer = "\n\n".join(f"{said.format('Zoe')} {at}" for at in range(200))
    started = time.process_time()
    claims = check_claims(answer, ClaimEvidence(tuple(texts), sources=(1,))).claims
    assert time.process_time() - started < 3
    assert claims


@pytest.mark.parametrize(
    ("said", "sent"),
    [
        (
            "The train leaves at 0:05 from the station.",
            "The train leaves at 12:05 am from the station.",
        ),
        (
            "The train leaves at 14:30 from the station.",
            "The train leaves at 2:30 pm from the station.",
        ),
        ("La séance commence à 14:30 à la mairie.", "La séance commence à 14h30 à la mairie."),
        ("La séance commence à 18:30 à la mairie.", "La séance commence à 18 h 30 à la mairie."),
        ("La séance commence à 18 h 30 à la mairie.", "La séance commence à 18:30 à la mairie."),
        ("The session starts at 6:30 pm in the hall.", "La séance commence à 18 h 30 à la mairie."),
    ],
)
def test_a_time_in_another_notation_is_not_marked(said: str, sent: str) -> None:
    assert not mark(said, sent)


@pytest.mark.parametrize(
    ("wrong", "sent"),
    [
        ("La séance commence à 18:40 à la mairie.", "La séance commence à 18 h 30 à la mairie."),
        ("La séance commence à 17 h 30 à la mairie.", "La séance commence à 18 h 30 à la mairie."),
        ("La séance commence à 14h40 à la mairie.", "La séance commence à 14h30 à la mairie."),
    ],
)
def test_another_time_in_another_notation_is_marked(wrong: str, sent: str) -> None:
    assert mark(wrong, sent)


def test_a_difference_larger_than_both_figures_is_of_other_things() -> None:
    sent = "With 8 million gas the price was 10 units, and with 8.02 million gas it was 1 unit."
    (claim,) = mark("Prices of 10 units and 1 unit are a difference of 20,000 in gas.", sent)
    assert (claim.kind, claim.verdict) == ("figure", "unsupported")
