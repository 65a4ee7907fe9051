import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelStorageFirestore

@Suite("A WebChannel over a transport", .timeLimit(.minutes(1)))
struct WebChannelTests {
    private static func framed(_ text: String) -> [UInt8] {
        Array("\(text.utf16.count)\n\(text)".utf8)
    }

    @Test("The messages of a reply are delivered before those of the reply that takes its place")
    func keepsOrder() async throws {
        let transport = ScriptedHTTPTransport([
            .chunks([Array(RecordedChannel.opening.utf8)]),
            .stallingBody(after: [Self.framed(#"[[1,[{"a":1}]],[2,[{"b":2}]]]"#)]),
            // The server has no open reply any more, so the client requests another one.
            .chunks([Self.framed("[0,2,0]")]),
            .stallingBody(after: [Self.framed(#"[[3,[{"c":3}]]]"#)]),
        ])
        let configuration = WebChannel.Configuration(
            scheme: "https",
            authority: "server.test",
            database: RecordedChannel.database
        )
        let gate = Gate()
        let names = Mutex<[String]>([])
        let (deliveries, delivery) = AsyncStream.makeStream(of: Void.self)
        let channel = WebChannel(configuration, transport: transport) { message in
            let name = message.members?.first?.name ?? ""
            if name == "a" { _ = try? await gate.pass() }
            names.withLock { $0.append(name) }
            delivery.yield()
        }
        let running = Task { await channel.run(headers: [], messages: ["{}"]) }
        try await waitUntil { gate.begunCount != 0 }
        channel.send(["{}"])
        try await waitUntil { channel.waitingCount != 0 }
        gate.open()
        for await _ in deliveries.prefix(3) {}
        #expect(names.withLock { $0 } == ["a", "b", "c"])
        channel.close()
        _ = await running.value
    }
}
