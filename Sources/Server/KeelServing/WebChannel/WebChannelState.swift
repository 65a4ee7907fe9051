internal import KeelStorageFirestore

/// The messages of a WebChannel session in both directions, as a state machine without input and output.
///
/// Both sides number their messages. The server keeps its messages until the client acknowledges them with a request: a
/// client that lost its connection requests them again. The client may send a request twice, or several at once.
///
/// Source: google/closure-library, closure/goog/labs/net/webchannel, of which Firestore's SDKs use version 8.
struct WebChannelState {
    enum Step: Equatable {
        case send([UInt8])
        case wait
        case end
    }

    /// A message of the client, kept as text, because its values can take 25 times as much memory.
    struct Request: Sendable, Equatable {
        /// Valid JSON.
        let text: [UInt8]

        var json: FirestoreJSON { (try? FirestoreJSON(parsing: text, deepest: .max)) ?? .null }
    }

    private struct Message {
        let number: Int
        var json: [UInt8]
    }

    /// The number of bytes, and of messages, above which the server waits for an acknowledgement.
    ///
    /// A response ends after the same amount, so that the client sends a request that acknowledges it.
    static let mostBytes = 1 << 20
    static let mostMessages = 1_000
    /// The maximum number of messages of a client that are kept until earlier ones arrive.
    private static let mostEarly = 1_000
    /// The maximum size of their texts, and of those that wait for the stream, in bytes.
    private static let mostEarlyBytes = 1 << 20
    private static let mostWaitingBytes = 16 << 20

    private var kept: ArraySlice<Message> = []
    private var keptBytes = 0
    /// The number of the last message; the session's id has the number 0.
    private var last = 0

    /// The number of the current response; 0 if no client waits.
    private(set) var response = 0
    private var responses = 0
    private var isBuffered = false
    /// The number of the last message that the current response has sent.
    private var sent = 0
    private var sentBytes = 0
    private var sentMessages = 0

    private var nextReceived = 0
    private var early: [Int: Request] = [:]
    private var earlyBytes = 0
    private var waitingBytes = 0

    /// Whether the server sends nothing more.
    private(set) var isEnded = false
    /// Whether the client is gone.
    var isGivenUp = false
    /// Whether a request has waited since ``takePresence()``.
    private var hasWaited = false

    /// The number of bytes that the session holds, in both directions.
    var heldBytes: Int { keptBytes + earlyBytes + waitingBytes }
    /// The number of these bytes that are counted among those of all sessions.
    var countedBytes = 0

    /// Ends the session at once, and drops all messages.
    mutating func abandon() {
        (kept, keptBytes) = ([], 0)
        (early, earlyBytes) = ([:], 0)
        sent = last
        (isGivenUp, isEnded) = (true, true)
    }

    // MARK: To the client

    /// Whether an acknowledgement must come before the server sends more.
    var isFull: Bool { keptBytes >= Self.mostBytes || kept.count >= Self.mostMessages }

    var isWaiting: Bool { sent < last }

    /// Adds a message, the JSON text of an array.
    mutating func append(_ json: [UInt8]) {
        guard !isEnded else { return }
        last += 1
        kept.append(Message(number: last, json: json))
        keptBytes += json.count
    }

    mutating func end() { isEnded = true }

    /// Forgets the messages up to a number, which the client has.
    mutating func acknowledge(_ number: Int) {
        while let first = kept.first, first.number <= number {
            keptBytes -= first.json.count
            // A slice holds on to removed elements until it is copied, and no limit would count them.
            kept[kept.startIndex].json = []
            kept.removeFirst()
        }
    }

    /// Starts a response to a waiting request, which replaces the one before, and returns its number.
    ///
    /// The client has the messages up to `number`; if `isBuffered`, it sees the response only once it has ended.
    mutating func respond(after number: Int, isBuffered: Bool) -> Int {
        acknowledge(number)
        responses += 1
        response = responses
        hasWaited = true
        self.isBuffered = isBuffered
        (sent, sentBytes, sentMessages) = (number, 0, 0)
        return response
    }

    /// Returns whether a request waits, or has waited since the last call.
    mutating func takePresence() -> Bool {
        defer { hasWaited = response != 0 }
        return hasWaited
    }

    /// Records that a response has ended, or that its client is gone.
    mutating func endResponse(_ number: Int) {
        if response == number { response = 0 }
    }

    mutating func step(of number: Int) -> Step {
        guard number == response else { return .end }
        let isOver =
            sentBytes >= Self.mostBytes || sentMessages >= Self.mostMessages
            || isBuffered && sentMessages > 0
        guard !isOver else { return .end }
        let messages = kept.drop { $0.number <= sent }.prefix(Self.mostMessages - sentMessages)
        guard let end = messages.last else { return isEnded ? .end : .wait }
        var text: [UInt8] = [UInt8(ascii: "[")]
        for message in messages {
            if text.count > 1 { text.append(UInt8(ascii: ",")) }
            text += "[\(message.number),".utf8
            text += message.json
            text.append(UInt8(ascii: "]"))
        }
        text.append(UInt8(ascii: "]"))
        sent = end.number
        sentBytes += text.count
        sentMessages += messages.count
        return .send(Self.framed(text))
    }

    /// The answer to a request with messages: whether the client waits for messages, the number of the last one that
    /// was sent, and the number of bytes that the client has not acknowledged.
    var status: [UInt8] {
        Self.framed(Array("[\(response == 0 ? 0 : 1),\(sent),\(keptBytes)]".utf8))
    }

    /// Returns JSON text behind its length, which counts UTF-16 code units, and not bytes.
    static func framed(_ text: [UInt8]) -> [UInt8] {
        let length = text.reduce(0) { $0 + ($1 & 0xC0 == 0x80 ? 0 : $1 >= 0xF0 ? 2 : 1) }
        return Array("\(length)\n".utf8) + text
    }

    // MARK: From the client

    /// Takes messages of the client.
    ///
    /// - Returns: The new messages, without gaps and repetitions, which wait for the stream from now on; nil if too
    ///   many messages are missing, or wait.
    mutating func receive(_ messages: [Request], from first: Int) -> [Request]? {
        for (offset, message) in messages.enumerated() where first + offset >= nextReceived {
            earlyBytes += message.text.count - (early[first + offset]?.text.count ?? 0)
            early[first + offset] = message
        }
        // A single message has the limit of a request's body.
        let wasWaiting = waitingBytes > 0
        var ready: [Request] = []
        while let message = early.removeValue(forKey: nextReceived) {
            earlyBytes -= message.text.count
            waitingBytes += message.text.count
            ready.append(message)
            nextReceived += 1
        }
        guard early.count <= Self.mostEarly, earlyBytes <= Self.mostEarlyBytes else { return nil }
        return wasWaiting && waitingBytes > Self.mostWaitingBytes ? nil : ready
    }

    /// Records that the stream has taken a message.
    mutating func use(_ message: Request) { waitingBytes -= message.text.count }
}
