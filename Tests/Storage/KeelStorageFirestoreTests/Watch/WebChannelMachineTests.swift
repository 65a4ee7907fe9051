import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("The client’s side of a WebChannel")
struct WebChannelMachineTests {
    private static let database = RecordedChannel.database

    private static func machine() -> WebChannelMachine {
        WebChannelMachine(database: database, firstRequest: 100, limit: 1 << 20)
    }

    /// Returns a machine after the first reply of the recorded session.
    private static func opened() -> WebChannelMachine {
        var machine = machine()
        _ = machine.handle(.open(headers: [("Authorization", "Bearer owner")], messages: ["{}"]))
        _ = machine.handle(.replied(status: 200, body: Array(RecordedChannel.opening.utf8)))
        return machine
    }

    private static func delivered(_ effects: [WebChannelMachine.Effect]) -> [FirestoreJSON] {
        effects.compactMap { if case .deliver(let message) = $0 { message } else { nil } }
    }

    private static func posts(
        _ effects: [WebChannelMachine.Effect]
    ) -> [WebChannelMachine.Request] {
        effects.compactMap { if case .post(let request) = $0 { request } else { nil } }
    }

    private static func gets(_ effects: [WebChannelMachine.Effect]) -> [WebChannelMachine.Request] {
        effects.compactMap { if case .get(let request) = $0 { request } else { nil } }
    }

    private static func end(_ effects: [WebChannelMachine.Effect]) -> WebChannelMachine.End? {
        effects.lazy.compactMap { if case .end(let end) = $0 { end } else { nil } }.first
    }

    @Test("The first request has the header fields and messages, the second one the session")
    func opens() throws {
        var machine = Self.machine()
        let first = try #require(
            Self.posts(
                machine.handle(.open(headers: [("Authorization", "Bearer x")], messages: ["{é}"]))
            ).first
        )
        let database = PercentEncoding.encode(Self.database)
        #expect(first.query.hasPrefix("VER=8&database=\(database)&RID=101&CVER=22"))
        #expect(
            first.form == "headers=Authorization%3ABearer%20x%0D%0A&count=1&ofs=0"
                + "&req0___data__=%7B%C3%A9%7D"
        )
        // What is sent before the channel is open waits for it.
        #expect(machine.handle(.send(["{\"b\":1}"])).isEmpty)
        let opening = Array(RecordedChannel.opening.utf8)
        let effects = machine.handle(.replied(status: 200, body: opening, session: "g1"))
        let get = try #require(Self.gets(effects).first)
        #expect(get.query.contains("RID=rpc&AID=0&CI=0&TYPE=xmlhttp&gsessionid=g1&SID="))
        let second = try #require(Self.posts(effects).first)
        #expect(second.query.contains("RID=102&AID=0"))
        #expect(second.form?.hasPrefix("count=1&ofs=1&req0___data__=") == true)
    }

    @Test("A recorded session is delivered whole, however its bytes are cut", arguments: 0..<50)
    func isDelivered(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var machine = Self.opened()
        var messages: [FirestoreJSON] = []
        for part in RecordedChannel.stream {
            var rest = Array(part.utf8)[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...(seed == 0 ? 1 : 300), using: &random)
                let effects = machine.handle(.received(Array(rest.prefix(count))))
                #expect(Self.end(effects) == nil)
                messages += Self.delivered(effects)
                rest = rest.dropFirst(count)
            }
        }
        // Fifteen arrays without the heartbeat.
        #expect(messages.count == 14)
        let kinds = messages.compactMap { $0["targetChange"]?["targetChangeType"]?.text }
        #expect(kinds == ["ADD", "CURRENT", "RESET", "CURRENT", "RESET", "CURRENT", "REMOVE"])
        let texts = messages.compactMap {
            $0["documentChange"]?["document"]?["fields"]?["t"]?["stringValue"]?.text
        }
        #expect(texts == Array(repeating: "é😀漢", count: 4))
    }

    @Test("A recorded reply to a POST lets the next messages go, in one request")
    func forwards() throws {
        var machine = Self.opened()
        #expect(Self.posts(machine.handle(.send(["1"]))).count == 1)
        #expect(machine.handle(.send(["2"])).isEmpty)
        #expect(machine.handle(.send(["3", "4"])).isEmpty)
        let effects = machine.handle(
            .replied(status: 200, body: Array(RecordedChannel.forward.utf8))
        )
        let post = try #require(Self.posts(effects).first)
        #expect(post.form == "count=3&ofs=2&req0___data__=2&req1___data__=3&req2___data__=4")
        #expect(post.query.contains("RID=103"))
    }

    @Test("Many messages, or long ones, are sent in several requests")
    func divides() throws {
        let long = String(repeating: "a", count: 200 << 10)
        let cases: [(messages: [String], counts: [String])] = [
            (
                (0..<2_500).map { "\($0)" },
                ["headers=&count=1000&ofs=0&", "count=1000&ofs=1000&", "count=500&ofs=2000&"]
            ),
            ([long, long, long], ["headers=&count=2&ofs=0&", "count=1&ofs=2&"]),
        ]
        for (messages, counts) in cases {
            var machine = Self.machine()
            var effects = machine.handle(.open(headers: [], messages: messages))
            var replies = [RecordedChannel.opening][...]
            for count in counts {
                let form = try #require(Self.posts(effects).first?.form)
                #expect(form.hasPrefix(count))
                let body = Array((replies.popFirst() ?? RecordedChannel.forward).utf8)
                effects = machine.handle(.replied(status: 200, body: body))
            }
            #expect(Self.posts(effects).isEmpty)
        }
    }

    @Test("An unanswered POST is repeated with its number, and not forever")
    func repeats() throws {
        var machine = Self.opened()
        let first = Self.posts(machine.handle(.send(["1"])))
        let loss = StorageError(.unavailable, "gone")
        #expect(Self.posts(machine.handle(.unanswered(loss))) == first)
        #expect(Self.posts(machine.handle(.replied(status: 503, body: []))) == first)
        guard case .lost? = Self.end(machine.handle(.unanswered(loss)))
        else { return fail("the channel goes on") }
    }

    @Test("A back channel that ends is opened again from the last array, and not forever")
    func continues() throws {
        var machine = Self.opened()
        _ = machine.handle(.received(Array("10\n[[4,[{}]]]".utf8)))
        let again = try #require(Self.gets(machine.handle(.streamEnded(nil))).first)
        #expect(again.query.contains("&AID=4&"))
        // The server repeats what it does not know to have arrived.
        let bytes = Array("24\n[[4,[{}]],[5,[{\"a\":1}]]]".utf8)
        #expect(Self.delivered(machine.handle(.received(bytes))) == [["a": .integer(1)]])
        let loss = StorageError(.unavailable, "gone")
        #expect(Self.gets(machine.handle(.streamEnded(loss))).count == 1)
        #expect(Self.gets(machine.handle(.streamEnded(loss))).count == 1)
        #expect(Self.gets(machine.handle(.streamEnded(loss))).count == 1)
        #expect(Self.end(machine.handle(.streamEnded(loss))) != nil)
    }

    @Test("A reply to a POST that knows no back channel opens one")
    func deadBackChannel() {
        var machine = Self.opened()
        let reply = WebChannelMachine.Event.replied(status: 200, body: Array("7\n[0,3,7]".utf8))
        _ = machine.handle(.send(["1"]))
        // The server may not have seen the GET yet.
        #expect(Self.gets(machine.handle(reply)).isEmpty)
        _ = machine.handle(.streaming(status: 200))
        _ = machine.handle(.send(["2"]))
        #expect(Self.gets(machine.handle(reply)).count == 1)
    }

    @Test(
        "A reply that does not open a channel refuses it",
        arguments: [(404, "not found"), (200, "<html>"), (200, "5\n[[0]]"), (501, "")]
    )
    func refused(status: Int, body: String) {
        var machine = Self.machine()
        _ = machine.handle(.open(headers: [], messages: []))
        switch Self.end(machine.handle(.replied(status: status, body: Array(body.utf8)))) {
        case .refused?, .lost?: break
        case let other: Issue.record("\(String(describing: other))")
        }
        #expect(machine.handle(.close).isEmpty)
    }

    @Test("A status ends the channel, wrapped or not")
    func fails() {
        for form in ["[[1,[{\"error\":{\"code\":404}}]]]", "[[1,[[{\"error\":{\"code\":404}}]]]]"] {
            var machine = Self.opened()
            let effects = machine.handle(.received(Array("\(form.utf8.count)\n\(form)".utf8)))
            guard case .failed(let error)? = Self.end(effects) else {
                Issue.record("the channel goes on after \(form)")
                continue
            }
            #expect(error["code"] == .integer(404))
        }
    }

    @Test("A server that closes the channel, or does not know it, has lost it")
    func lost() {
        for form in ["[[1,[\"close\"]]]", "[[1,[\"stop\"]]]"] {
            var machine = Self.opened()
            let effects = machine.handle(.received(Array("\(form.utf8.count)\n\(form)".utf8)))
            #expect(Self.end(effects) != nil)
        }
        var machine = Self.opened()
        #expect(Self.end(machine.handle(.streaming(status: 400))) != nil)
        machine = Self.opened()
        _ = machine.handle(.send(["1"]))
        #expect(Self.end(machine.handle(.replied(status: 400, body: []))) != nil)
    }

    @Test("Closing tells the server once")
    func closes() throws {
        var machine = Self.opened()
        let effects = machine.handle(.close)
        let requests = effects.compactMap { effect -> WebChannelMachine.Request? in
            if case .terminate(let request) = effect { request } else { nil }
        }
        #expect(requests.count == 1)
        #expect(requests.first?.query.contains("TYPE=terminate") == true)
        #expect(machine.handle(.close).isEmpty)
        #expect(machine.handle(.send(["1"])).isEmpty)
    }

    @Test("Nothing is lost or repeated over requests that break off", arguments: 0..<300)
    func survives(seed: UInt64) {
        var simulation = ChannelSimulation(seed: seed)
        simulation.run()
        #expect(simulation.end == nil)
        #expect(simulation.taken == simulation.sent, "seed \(seed)")
        #expect(simulation.received == Array(1...simulation.arrayCount), "seed \(seed)")
    }
}

/// A machine and a server whose requests break off at random places.
private struct ChannelSimulation {
    private var random: SeededRandom
    private var machine: WebChannelMachine
    private(set) var sent: [Int] = []
    private(set) var end: WebChannelMachine.End?
    /// What the machine has delivered.
    private(set) var received: [Int] = []
    // The server.
    private(set) var taken: [Int] = []
    private var knownRequests: Set<String> = []
    private(set) var arrayCount = 0
    /// What the open GET has not brought yet; nil without one.
    private var stream: [UInt8]?
    private var post: WebChannelMachine.Request?
    private var failureCount = 0

    init(seed: UInt64) {
        random = SeededRandom(seed: seed)
        machine = WebChannelMachine(database: "d", firstRequest: 1, limit: 1 << 20)
    }

    mutating func run() {
        perform(machine.handle(.open(headers: [], messages: [])))
        answerPost(with: RecordedChannel.opening)
        for _ in 0..<120 { step() }
        for _ in 0..<40 where post != nil || stream?.isEmpty != true { deliverAll() }
    }

    private mutating func step() {
        switch Int.random(in: 0..<7, using: &random) {
        case 0:
            sent.append(sent.count)
            perform(machine.handle(.send(["\(sent.count - 1)"])))
        case 1:
            arrayCount += 1
            stream? += Self.chunk([arrayCount])
        case 2, 3:
            guard let bytes = stream, !bytes.isEmpty else { return }
            let count = Int.random(in: 1...bytes.count, using: &random)
            stream = Array(bytes.dropFirst(count))
            perform(machine.handle(.received(Array(bytes.prefix(count)))))
            failureCount = 0
        case 4: breakStream()
        case 5:
            guard post != nil else { return }
            reach()
            answerPost(with: "7\n[1,1,7]")
        default: breakPost()
        }
    }

    private mutating func breakStream() {
        // The channel gives up after three vain attempts in a row.
        guard stream != nil, failureCount < 2 else { return }
        failureCount += 1
        stream = nil
        let isSilent = Bool.random(using: &random)
        let error = isSilent ? nil : StorageError(.unavailable, "cut")
        perform(machine.handle(.streamEnded(error)))
    }

    private var brokenPosts = 0

    private mutating func breakPost() {
        guard post != nil, brokenPosts < 2 else { return }
        brokenPosts += 1
        // The request may have arrived although its reply has not.
        if Bool.random(using: &random) { reach() }
        let request = post
        perform(machine.handle(.unanswered(StorageError(.unavailable, "cut"))))
        // The number of the last array may have grown.
        #expect(post?.form == request?.form)
    }

    private mutating func deliverAll() {
        if post != nil {
            reach()
            answerPost(with: "7\n[1,1,7]")
        }
        if let bytes = stream, !bytes.isEmpty {
            stream = []
            perform(machine.handle(.received(bytes)))
        }
    }

    /// Has the server apply the posted request unless it knows it.
    private mutating func reach() {
        guard let post, let form = post.form else { return }
        guard knownRequests.insert(Self.value("RID", in: post.query)).inserted else { return }
        let count = Int(Self.value("count", in: form)) ?? 0
        #expect(Self.value("ofs", in: form) == "\(taken.count)")
        for index in 0..<count {
            taken.append(Int(Self.value("req\(index)___data__", in: form)) ?? -1)
        }
    }

    private mutating func answerPost(with text: String) {
        guard post != nil else { return }
        post = nil
        brokenPosts = 0
        perform(machine.handle(.replied(status: 200, body: Array(text.utf8))))
    }

    private mutating func perform(_ effects: [WebChannelMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .post(let request): post = request
            case .get(let request):
                let last = Int(Self.value("AID", in: request.query)) ?? 0
                stream = last < arrayCount ? Self.chunk(Array(last + 1...arrayCount)) : []
            case .deliver(let json): received.append(Int(json["n"]?.wholeNumber ?? -1))
            case .terminate: break
            case .end(let end): self.end = end
            }
        }
    }

    private static func chunk(_ ids: [Int]) -> [UInt8] {
        let arrays = ids.map { "[\($0),[{\"n\":\($0),\"t\":\"é😀漢\"}]]" }
        let text = "[\(arrays.joined(separator: ","))]"
        return Array("\(text.utf16.count)\n\(text)".utf8)
    }

    private static func value(_ name: String, in form: String) -> String {
        let item = form.split(separator: "&").first { $0.hasPrefix("\(name)=") }
        return item.map { String($0.dropFirst(name.count + 1)) } ?? ""
    }
}
