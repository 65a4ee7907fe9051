import Foundation

/// Reads server-sent events like hand-written clients: bytes into text, text into lines, lines into fields.
///
/// It receives the whole stream at once, and so needs no buffer between pieces.
enum PeerEvents {
    struct Event {
        var type = "message"
        var id = ""
        var data = ""
    }

    static func read(_ data: Data) -> [Event] {
        var events: [Event] = []
        var event = Event()
        var lines: [Substring] = []
        let text = String(decoding: data, as: UTF8.self)
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty {
                event.data = lines.joined(separator: "\n")
                if !lines.isEmpty { events.append(event) }
                event = Event(id: event.id)
                lines = []
            } else if line.hasPrefix("data:") {
                lines.append(value(line, after: 5))
            } else if line.hasPrefix("event:") {
                event.type = String(value(line, after: 6))
            } else if line.hasPrefix("id:") {
                event.id = String(value(line, after: 3))
            }
        }
        return events
    }

    private static func value(_ line: Substring, after count: Int) -> Substring {
        let value = line.dropFirst(count)
        return value.hasPrefix(" ") ? value.dropFirst() : value
    }
}
