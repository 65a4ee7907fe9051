import Foundation
import KeelHTTP

extension HTTPGroup {
    /// Measures server-sent events like those of a language model: a type, a number and a line of JSON.
    static func eventParsing(_ options: Options) -> Measure {
        let count = options.scaled(20_000)
        let stream = (0..<count).map { number in
            "event: delta\nid: \(number)\ndata: {\"id\":\"answer-42\",\"index\":\(number),"
                + "\"delta\":{\"role\":\"assistant\",\"content\":\" wörd \(number % 97)\"}}\n\n"
        }.joined()
        let bytes = Array(stream.utf8)
        let data = Data(bytes)
        return Measure(
            name: "server-sent events / lines of a String",
            unit: "ns",
            target: .atLeast(5),
            keel: {
                let start = ContinuousClock.now
                var parser = ServerSentEventParser()
                var found = 0
                // In pieces, as they arrive from the network.
                for position in stride(from: 0, to: bytes.count, by: 16_384) {
                    parser.append(bytes[position..<min(position + 16_384, bytes.count)])
                    while let event = try parser.next() { found += event.data.isEmpty ? 0 : 1 }
                }
                guard found == count else { throw Flaw("Keel found \(found) events.") }
                return start.duration(to: .now) / .nanoseconds(1) / Double(count)
            },
            peer: {
                let start = ContinuousClock.now
                let found = PeerEvents.read(data).count { !$0.data.isEmpty }
                guard found == count else { throw Flaw("The peer found \(found) events.") }
                return start.duration(to: .now) / .nanoseconds(1) / Double(count)
            }
        )
    }
}
