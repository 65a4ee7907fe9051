import Testing

@testable import KeelServing

@Suite("Messages of a WebChannel")
struct WebChannelStateTests {
    private static func text(_ step: WebChannelState.Step) -> String {
        switch step {
        case .send(let bytes): String(decoding: bytes, as: UTF8.self)
        case .wait: "wait"
        case .end: "end"
        }
    }

    @Test("Lengths count UTF-16 code units", arguments: [("[]", 2), ("é", 1), ("😀", 2), ("漢字", 2)])
    func lengths(text: String, length: Int) {
        let framed = WebChannelState.framed(Array(text.utf8))
        #expect(String(decoding: framed, as: UTF8.self) == "\(length)\n\(text)")
        #expect(text.utf16.count == length)
    }

    @Test("A client that is between two requests is present")
    func presence() {
        var state = WebChannelState()
        func isPresent() -> Bool { state.takePresence() }
        #expect(!isPresent())
        state.endResponse(state.respond(after: 0, isBuffered: true))
        #expect(isPresent())
        #expect(!isPresent())
        let response = state.respond(after: 0, isBuffered: false)
        #expect(isPresent())
        state.endResponse(response)
        #expect(isPresent(), "it waited for a part of the time")
        #expect(!isPresent())
    }

    @Test("Messages are sent again until they are acknowledged")
    func acknowledgements() {
        var state = WebChannelState()
        state.append(Array("[1]".utf8))
        state.append(Array("[2]".utf8))
        var response = state.respond(after: 0, isBuffered: false)
        #expect(Self.text(state.step(of: response)) == "17\n[[1,[1]],[2,[2]]]")
        #expect(state.step(of: response) == .wait)
        state.append(Array("[3]".utf8))
        #expect(Self.text(state.step(of: response)) == "9\n[[3,[3]]]")
        #expect(String(decoding: state.status, as: UTF8.self) == "7\n[1,3,9]")

        // The response is lost behind the first message.
        let lost = response
        response = state.respond(after: 1, isBuffered: false)
        #expect(state.step(of: lost) == .end, "another response has replaced it")
        #expect(Self.text(state.step(of: response)) == "17\n[[2,[2]],[3,[3]]]")
        state.endResponse(lost)
        #expect(state.response == response)
        state.acknowledge(3)
        state.endResponse(response)
        #expect(String(decoding: state.status, as: UTF8.self) == "7\n[0,3,0]")
    }

    @Test(
        "A response ends so that its messages are acknowledged, and the last one with the session"
    )
    func ends() {
        var state = WebChannelState()
        let long = state.respond(after: 0, isBuffered: false)
        let half = [UInt8](repeating: UInt8(ascii: "1"), count: WebChannelState.mostBytes / 2)
        state.append(half)
        #expect(!state.isFull)
        state.append(half)
        #expect(state.isFull)
        guard case .send = state.step(of: long) else { return #expect(Bool(false)) }
        #expect(state.step(of: long) == .end)
        let next = state.respond(after: 2, isBuffered: false)
        #expect(!state.isFull)
        #expect(state.step(of: next) == .wait)
        state.append(Array("[3]".utf8))
        state.end()
        state.append(Array("[4]".utf8))
        #expect(Self.text(state.step(of: next)) == "9\n[[3,[3]]]")
        #expect(state.step(of: next) == .end)
        #expect(!state.isWaiting)
    }

    @Test("A client that cannot read a response before its end receives one group of messages")
    func buffered() {
        var state = WebChannelState()
        let response = state.respond(after: 0, isBuffered: true)
        #expect(state.step(of: response) == .wait)
        state.append(Array("[1]".utf8))
        #expect(Self.text(state.step(of: response)) == "9\n[[1,[1]]]")
        #expect(state.step(of: response) == .end)
    }

    /// Returns messages of the client, which are numbers.
    private static func requests(_ numbers: Int64..., size: Int = 1) -> [WebChannelState.Request] {
        let spaces = [UInt8](repeating: UInt8(ascii: " "), count: size - 1)
        return numbers.map { .init(text: Array("\($0)".utf8) + spaces) }
    }

    @Test("Messages of the client are taken once and in order")
    func received() {
        var state = WebChannelState()
        #expect(state.receive(Self.requests(0), from: 0) == Self.requests(0))
        #expect(state.receive(Self.requests(0), from: 0) == [], "a request is repeated")
        #expect(state.receive(Self.requests(2, 3), from: 2) == [])
        #expect(state.receive(Self.requests(1, 2), from: 1) == Self.requests(1, 2, 3))
        #expect(state.heldBytes == 4)
        for message in Self.requests(0, 1, 2, 3) { state.use(message) }
        #expect(state.heldBytes == 0)
        let many = [WebChannelState.Request](repeating: .init(text: [0x30]), count: 1_001)
        #expect(state.receive(many, from: 10) == nil, "messages before them are missing")
    }

    @Test("Large messages that come too early, or wait for the stream, end the session")
    func largeRequests() {
        let size = 1 << 20
        var early = WebChannelState()
        #expect(early.receive(Self.requests(1, size: size), from: 1) == [])
        #expect(early.receive(Self.requests(1, size: size), from: 1) == [], "it is repeated")
        #expect(early.receive(Self.requests(2, size: size), from: 2) == nil)

        var waiting = WebChannelState()
        for number in 0..<16 {
            #expect(waiting.receive(Self.requests(0, size: size), from: number) != nil)
        }
        waiting.use(Self.requests(0, size: size)[0])
        #expect(waiting.receive(Self.requests(0, size: size), from: 16) != nil)
        #expect(waiting.receive(Self.requests(0, size: size), from: 17) == nil)

        var single = WebChannelState()
        #expect(single.receive(Self.requests(0, size: 30 * size), from: 0)?.count == 1)
    }
}
