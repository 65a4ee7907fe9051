import KeelHTTP
import Testing

/// The events of a stream of text, with one row per rule of WHATWG HTML, section 9.2.6.
///
/// The rows restate the checks of the web platform tests in `eventsource/format-*`.
struct EventFormat: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    let events: [ServerSentEvent]
    var delay: Duration?
    var lastID = ""

    var testDescription: String { name }

    init(
        _ name: String,
        _ text: String,
        _ events: [ServerSentEvent],
        delay: Duration? = nil,
        lastID: String? = nil
    ) {
        self.init(name, bytes: Array(text.utf8), events, delay: delay, lastID: lastID)
    }

    init(
        _ name: String,
        bytes: [UInt8],
        _ events: [ServerSentEvent],
        delay: Duration? = nil,
        lastID: String? = nil
    ) {
        self.name = name
        self.bytes = bytes
        self.events = events
        self.delay = delay
        self.lastID = lastID ?? events.last?.lastEventID ?? ""
    }

    static let all: [EventFormat] = text + data + types + identifiers + delays
}

private func event(_ data: String, _ type: String = "message", id: String = "") -> ServerSentEvent {
    ServerSentEvent(type: type, data: data, lastEventID: id)
}

extension EventFormat {
    private static let text: [EventFormat] = [
        .init("nothing", "", []),
        .init("line feeds", "data: a\n\n", [event("a")]),
        .init("carriage returns", "data: a\r\r", [event("a")]),
        .init("both", "data: a\r\n\r\n", [event("a")]),
        .init("line feed, then carriage return", "data: a\n\r", [event("a")]),
        .init("carriage return, then both", "data: a\r\r\n", [event("a")]),
        .init(
            "all ends mixed",
            "data:a\ndata:b\rdata:c\r\n\ndata:d\r\r",
            [event("a\nb\nc"), event("d")]
        ),
        .init("two blank lines", "data: a\n\n\n\ndata: b\n\n", [event("a"), event("b")]),
        .init("a byte order mark", "\u{FEFF}data: a\n\n", [event("a")]),
        .init("two byte order marks", "\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [event("b")]),
        .init("a byte order mark later", "data: a\n\n\u{FEFF}data: b\n\n", [event("a")]),
        .init("a byte order mark alone on a line", "\u{FEFF}\ndata: a\n\n", [event("a")]),
        .init(
            "half a byte order mark",
            bytes: [0xEF, 0xBB] + Array("\ndata: a\n\n".utf8),
            [event("a")]
        ),
        .init("a byte order mark inside data", "data:\u{FEFF}a\n\n", [event("\u{FEFF}a")]),
        .init("text beyond ASCII", "data: ok…\u{1F600}ä\n\n", [event("ok…\u{1F600}ä")]),
        .init(
            "bytes that are no UTF-8",
            bytes: Array("data: a".utf8) + [0xFF, 0xC3] + Array("\ndata: b\n\n".utf8),
            [event("a\u{FFFD}\u{FFFD}\nb")]
        ),
        .init(
            "a character cut off by the end of its line",
            bytes: Array("data: ".utf8) + [0xF0, 0x9F, 0x98] + Array("\n\n".utf8),
            [event("\u{FFFD}")]
        ),
        .init("a NUL in data", "data: a\u{0}b\n\n", [event("a\u{0}b")]),
        .init(
            "other kinds of line ends do not count",
            "data: a\u{2028}b\u{85}c\u{B}d\n\n",
            [event("a\u{2028}b\u{85}c\u{B}d")]
        ),
        .init("a comment", ": hello\ndata: a\n\n", [event("a")]),
        .init("an empty comment", ":\n\ndata: a\n\n", [event("a")]),
        .init("comments between data", "data:1\n:x\r:y\r\ndata:2\n\n", [event("1\n2")]),
        .init("a comment with NULs and colons", ":\u{0}::\ndata:1\n\n", [event("1")]),
        .init(
            "a long comment",
            ":" + String(repeating: "x", count: 2000) + "\ndata:1\n\n",
            [event("1")]
        ),
        .init("an unknown field", "data:a\nother:b\n data:c\ndata\u{0}:d\n\n", [event("a")]),
        .init("a field in capitals", "DATA: a\nData: b\n\n", []),
        .init("a field with a space before the colon", "data : a\n\n", []),
        .init("a field with a space in front", " data: a\n\n", []),
        .init("a longer name", "dataa: x\nidx: 1\nevents: y\n\n", []),
    ]

    private static let data: [EventFormat] = [
        .init("one space is taken off", "data: a\n\n", [event("a")]),
        .init("no space", "data:a\n\n", [event("a")]),
        .init("two spaces", "data:  a\n\n", [event(" a")]),
        .init("a tab stays", "data:\ta\n\n", [event("\ta")]),
        .init("a tab after a space stays", "data: \ta\n\n", [event("\ta")]),
        .init("a space behind stays", "data: a \n\n", [event("a ")]),
        .init("a colon in the value", "data: a:b: c\n\n", [event("a:b: c")]),
        .init("a value that begins with a colon", "data::a\n\n", [event(":a")]),
        .init("empty data", "data:\n\n", [event("")]),
        .init("data without a colon", "data\n\n", [event("")]),
        .init("only a space", "data: \n\n", [event("")]),
        .init("two empty lines of data", "data\ndata\n\n", [event("\n")]),
        .init("three empty lines of data", "data:\ndata\ndata:\n\n", [event("\n\n")]),
        .init("several lines", "data: a\ndata: b\ndata:\ndata: c\n\n", [event("a\nb\n\nc")]),
        .init(
            "no data is no event",
            "event: x\nretry: 1\n\ndata: a\n\n",
            [event("a")],
            delay: .milliseconds(1)
        ),
        .init("cut off before the blank line", "data: a\n\ndata: b\n", [event("a")]),
        .init("cut off inside a line", "data: a\n\ndata: b", [event("a")]),
        .init("cut off before any blank line", "data: a\n", []),
    ]

    private static let types: [EventFormat] = [
        .init("a type", "event: add\ndata: a\n\n", [event("a", "add")]),
        .init("a type behind the data", "data: a\nevent: add\n\n", [event("a", "add")]),
        .init("the last type counts", "event: x\nevent: y\ndata: a\n\n", [event("a", "y")]),
        .init("an empty type", "event:\ndata: a\n\n", [event("a")]),
        .init(
            "an empty type takes an earlier one back",
            "event: x\nevent\ndata: a\n\n",
            [event("a")]
        ),
        .init(
            "a type is for one event",
            "event: x\ndata: a\n\ndata: b\n\n",
            [event("a", "x"), event("b")]
        ),
        .init("a type without data is forgotten", "event: x\n\ndata: b\n\n", [event("b")]),
        .init("a type with a space in front", "event:  x\ndata: a\n\n", [event("a", " x")]),
    ]

    private static let identifiers: [EventFormat] = [
        .init("an identifier", "id: 1\ndata: a\n\n", [event("a", id: "1")]),
        .init(
            "an identifier stays",
            "id: 1\ndata: a\n\ndata: b\n\n",
            [event("a", id: "1"), event("b", id: "1")]
        ),
        .init(
            "an empty identifier takes it back",
            "id: 1\ndata: a\n\nid\ndata: b\n\n",
            [event("a", id: "1"), event("b")]
        ),
        .init(
            "an identifier with a NUL is no identifier",
            "id: 1\nid: 2\u{0}\ndata: a\n\n",
            [event("a", id: "1")]
        ),
        .init("an identifier without data", "id: 7\n\ndata: a\n\n", [event("a", id: "7")]),
        .init("an identifier without data, at the end", "id: 7\n\n", [], lastID: "7"),
        .init(
            "an identifier whose event was cut off",
            "id: 1\ndata: a\n\nid: 2\ndata: b\n",
            [event("a", id: "1")]
        ),
        .init(
            "the last identifier of an event",
            "id: 1\nid: 2\ndata: a\n\n",
            [event("a", id: "2")]
        ),
        .init("an identifier beyond ASCII", "id: ü…\ndata: a\n\n", [event("a", id: "ü…")]),
    ]

    private static let delays: [EventFormat] = [
        .init("a delay", "retry: 3000\ndata: a\n\n", [event("a")], delay: .seconds(3)),
        .init("a delay without a blank line", "retry: 3000\n", [], delay: .seconds(3)),
        .init("a delay of zero", "retry: 0\n\n", [], delay: .zero),
        .init("a delay with zeros in front", "retry: 0020\n\n", [], delay: .milliseconds(20)),
        .init("the last delay counts", "retry: 1\nretry: 2\n\n", [], delay: .milliseconds(2)),
        .init(
            "a delay that is no number",
            "retry: 3000\nretry: 1x\nretry: x\n\n",
            [],
            delay: .seconds(3)
        ),
        .init("a negative delay", "retry: -1\n\n", []),
        .init("a delay with a sign", "retry: +1\n\n", []),
        .init("a delay with a fraction", "retry: 1.5\n\n", []),
        .init("a delay with a second space", "retry:  1\n\n", []),
        .init("an empty delay", "retry\nretry:\n\n", []),
        .init("a delay in other digits", "retry: \u{0661}\n\n", []),
        .init("a delay beyond all clocks", "retry: 99999999999999999999\n\n", []),
    ]
}
