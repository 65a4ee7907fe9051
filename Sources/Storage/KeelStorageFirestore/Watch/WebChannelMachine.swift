internal import KeelCore
package import KeelStorageAdapting

/// The client's side of a WebChannel, as a state machine without input and output.
///
/// WebChannel carries two ordered streams of messages over plain HTTP: the *forward channel* is a series of POST
/// requests, of which one is open at a time; the *back channel* is the streamed reply to a GET request. Each side
/// numbers what it sends, so that nothing is lost or repeated when a request breaks off: the client repeats a POST with
/// the same number (`RID`), and each request has the number of the last array that it has received (`AID`).
///
/// Sources: closure-library `goog/labs/net/webchannel/`, and exchanges with Google's Firestore emulator.
package struct WebChannelMachine: Sendable {
    package struct Request: Sendable, Hashable {
        package var query: String
        /// Nil for a GET.
        package var form: String?
    }

    package enum Event: Sendable {
        /// Open the channel with the header fields and messages of its first request.
        case open(headers: [(name: String, value: String)], messages: [String])
        /// Send messages.
        case send([String])
        /// The reply to a POST; `session` is the value of its field `X-HTTP-Session-Id`.
        case replied(status: Int, body: [UInt8], session: String? = nil)
        /// A POST received no reply.
        case unanswered(StorageError)
        /// The head of the reply to the GET.
        case streaming(status: Int)
        /// Bytes of the reply to the GET.
        case received([UInt8])
        /// The reply to the GET has ended, or broken off.
        case streamEnded(StorageError?)
        /// End the channel.
        case close
    }

    package enum Effect: Sendable {
        case post(Request)
        /// Open the back channel, in place of one that may be open.
        case get(Request)
        case deliver(FirestoreJSON)
        /// Notify the server of the end of the channel, without waiting for its reply.
        case terminate(Request)
        case end(End)
    }

    package enum End: Sendable {
        /// This side has closed it.
        case closed
        /// The server, or a proxy, does not offer channels: an HTTP status.
        case refused(Int, [UInt8])
        /// The connection broke off, or the server has ended or forgotten the channel.
        case lost(StorageError)
        /// The status of the call, as an error object of the protocol.
        case failed(FirestoreJSON)
    }

    private static let attempts = 3

    /// The maximum number of messages of a request: closure-library webchannelbase.js, `MAX_MAPS_PER_REQUEST_`.
    private static let mostMessages = 1_000
    /// The length of a form above which it takes no further message: a server may read only a part before it knows the
    /// caller.
    private static let mostLength = 256 << 10

    private let database: String
    private var chunks: WebChannelChunks
    private let limit: Int
    private var requestID: Int
    private var sessionID: String?
    private var httpSession: String?
    private var arrayID = 0
    private var sentCount = 0
    private var queue: [String] = []
    private var posted: (form: String, count: Int)?
    private var isStreaming = false
    /// The number of GETs since one brought something.
    private var vainStreams = 0
    private var isOver = false

    /// Creates a channel, whose server sends chunks up to a limit.
    ///
    /// The number of the first request is random, so that it is not taken for an earlier one.
    package init(database: String, firstRequest: Int, limit: Int) {
        self.database = database
        self.limit = limit
        requestID = firstRequest
        chunks = WebChannelChunks(limit: limit)
    }

    package mutating func handle(_ event: Event) -> [Effect] {
        guard !isOver else { return [] }
        var effects: [Effect] = []
        switch event {
        case .open(let headers, let messages):
            let text = headers.map { "\($0.name):\($0.value)\r\n" }.joined()
            queue = messages + queue
            post(prefix: "headers=\(PercentEncoding.encode(text))&", &effects)
        case .send(let messages):
            queue += messages
            flush(&effects)
        case .replied(let status, let body, let session):
            take(status, body, session, &effects)
        case .unanswered(let error): repeatPost(error, &effects)
        case .streaming(let status):
            isStreaming = true
            if status != 200 { end(.lost(Self.loss("status \(status)")), &effects) }
        case .received(let bytes):
            vainStreams = 0
            chunks.append(bytes)
            readChunks(&effects)
        case .streamEnded(let error): streamAgain(error, &effects)
        case .close:
            if sessionID != nil {
                requestID += 1
                let query = query([("RID", "\(requestID)"), ("TYPE", "terminate")])
                effects.append(.terminate(Request(query: query, form: "")))
            }
            end(.closed, &effects)
        }
        return effects
    }

    private mutating func end(_ end: End, _ effects: inout [Effect]) {
        guard !isOver else { return }
        isOver = true
        effects.append(.end(end))
    }

    private static func loss(_ reason: String) -> StorageError {
        StorageError(.unavailable, "the server has ended the stream of changes: \(reason)")
    }

    // MARK: Forward channel

    private mutating func post(prefix: String = "", _ effects: inout [Effect]) {
        var (fields, count) = ("", 0)
        while count < min(queue.count, Self.mostMessages), fields.utf8.count < Self.mostLength {
            fields += "&req\(count)___data__=\(PercentEncoding.encode(queue[count]))"
            count += 1
        }
        queue.removeFirst(count)
        let form = "\(prefix)count=\(count)&ofs=\(sentCount)\(fields)"
        sentCount += count
        requestID += 1
        posted = (form, 1)
        effects.append(.post(postRequest(form)))
    }

    private func postRequest(_ form: String) -> Request {
        guard sessionID != nil else {
            return Request(
                query: query([
                    ("RID", "\(requestID)"), ("CVER", "22"), ("X-HTTP-Session-Id", "gsessionid"),
                ]),
                form: form
            )
        }
        return Request(query: query([("RID", "\(requestID)"), ("AID", "\(arrayID)")]), form: form)
    }

    private mutating func flush(_ effects: inout [Effect]) {
        guard posted == nil, sessionID != nil, !queue.isEmpty else { return }
        post(&effects)
    }

    private mutating func take(
        _ status: Int,
        _ body: [UInt8],
        _ session: String?,
        _ effects: inout [Effect]
    ) {
        guard sessionID != nil else { return begin(status, body, session, &effects) }
        guard status == 200 else {
            // The server does not know the channel any more.
            guard status >= 500 else { return end(.lost(Self.loss("status \(status)")), &effects) }
            return repeatPost(Self.loss("status \(status)"), &effects)
        }
        posted = nil
        var reply = WebChannelChunks(limit: limit)
        reply.append(body)
        if let text = try? reply.next(), let json = try? FirestoreJSON(parsing: text),
            json.elements?.first?.wholeNumber == 0, isStreaming, vainStreams < Self.attempts
        {
            // The server has no back channel: the one that was open here is dead.
            stream(&effects)
        }
        flush(&effects)
    }

    private mutating func begin(
        _ status: Int,
        _ body: [UInt8],
        _ session: String?,
        _ effects: inout [Effect]
    ) {
        posted = nil
        guard status == 200 else { return end(.refused(status, body), &effects) }
        httpSession = session
        chunks.append(body)
        readChunks(&effects)
        guard !isOver else { return }
        guard sessionID != nil else { return end(.refused(status, body), &effects) }
        chunks = WebChannelChunks(limit: limit)
        stream(&effects)
        flush(&effects)
    }

    private mutating func repeatPost(_ error: StorageError, _ effects: inout [Effect]) {
        guard let posted, sessionID != nil, posted.count < Self.attempts else {
            return end(.lost(error), &effects)
        }
        self.posted?.count += 1
        effects.append(.post(postRequest(posted.form)))
    }

    // MARK: Back channel

    private mutating func stream(_ effects: inout [Effect]) {
        isStreaming = false
        vainStreams += 1
        chunks = WebChannelChunks(limit: limit)
        let query = query([
            ("RID", "rpc"), ("AID", "\(arrayID)"), ("CI", "0"), ("TYPE", "xmlhttp"),
        ])
        effects.append(.get(Request(query: query)))
    }

    private mutating func streamAgain(_ error: StorageError?, _ effects: inout [Effect]) {
        guard vainStreams < Self.attempts else {
            return end(.lost(error ?? Self.loss("the reply has ended")), &effects)
        }
        stream(&effects)
    }

    private mutating func readChunks(_ effects: inout [Effect]) {
        do {
            while !isOver, let text = try chunks.next() {
                guard let arrays = try FirestoreJSON(parsing: text, deepest: Self.deepest).elements
                else { throw WebChannelChunks.Flaw.noLength }
                for array in arrays { take(array, &effects) }
            }
        } catch {
            let reason = "its stream of changes is not a WebChannel: \(error)"
            end(.lost(.invalidReply(reason)), &effects)
        }
    }

    /// The nesting limit of arrays: they contain documents.
    private static let deepest = FirestoreJSON.deepest + 12

    private mutating func take(_ array: FirestoreJSON, _ effects: inout [Effect]) {
        guard !isOver, let parts = array.elements, parts.count == 2,
            let id = parts[0].wholeNumber.flatMap({ Int(exactly: $0) })
        else { return }
        // After a request that broke off, the server repeats arrays.
        guard id > arrayID || sessionID == nil else { return }
        arrayID = id
        for content in parts[1].elements ?? [] {
            switch content.text {
            case "c"?:
                guard sessionID == nil else { return }
                sessionID = parts[1].elements?.dropFirst().first?.text
                return
            case "close"?, "stop"?:
                return end(.lost(Self.loss("it has closed the channel")), &effects)
            case _?: return
            case nil: deliver(content, &effects)
            }
        }
    }

    private mutating func deliver(_ content: FirestoreJSON, _ effects: inout [Effect]) {
        if let inner = content.elements {
            for element in inner { deliver(element, &effects) }
        } else if let error = content["error"] {
            end(.failed(error), &effects)
        } else if !isOver, content.members != nil {
            effects.append(.deliver(content))
        }
    }

    // MARK: URLs

    private func query(_ items: [(name: String, value: String)]) -> String {
        var all = [(name: "VER", value: "8"), (name: "database", value: database)] + items
        if let httpSession { all.append(("gsessionid", httpSession)) }
        if let sessionID { all.append(("SID", sessionID)) }
        all.append(("t", "1"))
        return all.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}
