import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix

/// Streams of Firestore's Listen method over WebChannel, all on one thread.
///
/// They parse no documents, because the listening side shares the machine with the measured server.
final class WebChannelStreams: Sendable {
    /// The messages that a stream sends first, each of which adds a target.
    typealias Targets = @Sendable (_ stream: Int) -> [String]

    private let streams: [WebChannelStream]

    /// Opens streams, `atOnce` at a time, and waits until all of their targets are current.
    @concurrent
    init(
        _ count: Int,
        at server: FirestoreServer,
        atOnce: Int,
        targets: @escaping Targets
    ) async throws {
        let loop = NIOSingletons.posixEventLoopGroup.next()
        let streams = (0..<count).map { number in
            WebChannelStream(at: server, on: loop, adding: targets(number))
        }
        self.streams = streams
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (number, stream) in streams.enumerated() {
                if number >= atOnce { try await group.next() }
                group.addTask { try await stream.open() }
            }
            try await group.waitForAll()
        }
    }

    deinit {
        for stream in streams { stream.close() }
    }

    /// The number of bytes that the first stream has received for its targets, without HTTP's own.
    var bytes: Int { get async throws { try await first.bytes() } }

    /// The last token of the first stream.
    var token: String { get async throws { try await first.token() } }

    private var first: WebChannelStream {
        get throws {
            guard let first = streams.first else { throw Flaw("There are no streams.") }
            return first
        }
    }

    // MARK: Messages

    static let database = "projects/bench/databases/(default)"

    /// Returns the message that adds a query of one collection as a target.
    ///
    /// - Parameters:
    ///   - number: The number of the target.
    ///   - collection: The path of the collection.
    ///   - group: The value of the field `group` in the documents of the target; nil for all documents.
    ///   - token: The token of a client that resumes.
    ///   - count: The number of documents that such a client has.
    /// - Returns: The message.
    static func adding(
        _ number: Int,
        _ collection: String,
        group: Int? = nil,
        token: String? = nil,
        count: Int? = nil
    ) -> String {
        let parts = collection.split(separator: "/")
        let parent = (["\(database)/documents"] + parts.dropLast().map(String.init))
            .joined(separator: "/")
        let filter = group.map { group in
            #","where":{"fieldFilter":{"field":{"fieldPath":"group"},"op":"EQUAL","#
                + #""value":{"integerValue":"\#(group)"}}}"#
        }
        let resumption = token.map { #","resumeToken":"\#($0)""# } ?? ""
        let expected = count.map { #","expectedCount":\#($0)"# } ?? ""
        return #"{"database":"\#(database)","addTarget":{"query":{"parent":"\#(parent)","#
            + #""structuredQuery":{"from":[{"collectionId":"\#(parts.last ?? "")"}]"#
            + #"\#(filter ?? "")}},"targetId":\#(number)\#(resumption)\#(expected)}}"#
    }
}

/// A stream of Firestore's Listen method over WebChannel.
///
/// A first request opens the channel. Its messages come as the reply to another request, which is repeated when it ends.
/// All state belongs to the event loop.
private final class WebChannelStream: Sendable {
    private struct State {
        var session: String?
        var httpSession: String?
        /// The number of the last message that was received before the present request.
        var acknowledged = 0
        /// The body of the reply to the present request.
        var reply: [UInt8] = []
        /// The place in it up to which targets have been counted.
        var scanned = 0
        /// The number of targets that are to become current.
        let targets: Int
        /// The number of those that the server has acknowledged, and that are current.
        var added = 0
        var current = 0
        /// Whether a token has come after the last of them.
        var hasToken = false
        /// The number of bytes of earlier replies, without the one that opens the channel.
        var earlierBytes = 0
        var channel: (any Channel)?
        var isClosed = false

        /// Takes bytes of a reply, and returns whether all targets have become current by them, with a token.
        mutating func take(_ bytes: ByteBuffer) -> Bool {
            reply += bytes.readableBytesView
            guard session != nil, !hasToken else { return false }
            while !hasToken, scanned + Self.longest <= reply.count {
                let rest = reply[scanned...]
                if current >= targets {
                    hasToken = rest.starts(with: WebChannelStream.resumeToken)
                } else if rest.starts(with: WebChannelStream.currentOfAll) {
                    current = added
                } else if rest.starts(with: WebChannelStream.current) {
                    current += 1
                } else if rest.starts(with: WebChannelStream.added) {
                    added += 1
                }
                scanned += 1
            }
            return hasToken
        }

        /// The number of bytes that tell which word comes next; more follow each of the words.
        private static let longest = WebChannelStream.currentOfAll.count
    }

    private static let added = Array("\"ADD\"".utf8)
    private static let current = Array("\"CURRENT\"".utf8)
    /// The beginning of a message of Keel that names no target.
    private static let currentOfAll = Array("\"CURRENT\",\"resumeToken\"".utf8)
    private static let resumeToken = Array("\"resumeToken\"".utf8)

    // Not the server itself, which would live until the event loop has closed the stream.
    private let port: Int
    private let keepsConnections: Bool
    private let loop: any EventLoop
    private let messages: [String]
    private let opened: EventLoopPromise<Void>
    private let state: NIOLoopBoundBox<State>

    init(at server: FirestoreServer, on loop: any EventLoop, adding messages: [String]) {
        (port, keepsConnections) = (server.port, server.keepsConnections)
        (self.loop, self.messages) = (loop, messages)
        opened = loop.makePromise()
        state = .makeBoxSendingValue(State(targets: messages.count), eventLoop: loop)
    }

    /// Opens the channel and waits until all targets are current, with a token.
    func open() async throws {
        loop.execute { self.connect() }
        let limit = loop.scheduleTask(in: .seconds(300)) {
            self.opened.fail(Flaw("A stream does not become current."))
        }
        defer { limit.cancel() }
        try await opened.futureResult.get()
    }

    func close() {
        loop.execute {
            self.state.value.isClosed = true
            self.state.value.channel?.close(promise: nil)
            self.state.value.channel = nil
            self.opened.fail(Flaw("A stream was closed."))
        }
    }

    func bytes() async throws -> Int {
        try await loop.submit { self.state.value.earlierBytes + self.state.value.reply.count }.get()
    }

    func token() async throws -> String {
        let reply = try await loop.submit { self.state.value.reply }.get()
        let tokens = String(decoding: reply, as: UTF8.self)
            .matches(of: /"resumeToken":\s*"([^"]+)"/)
        guard let token = tokens.last else { throw Flaw("The server sends no token.") }
        return String(token.output.1)
    }

    // MARK: On the event loop

    private func connect() {
        guard !state.value.isClosed else { return }
        guard let address = try? SocketAddress(ipAddress: "127.0.0.1", port: port) else {
            return fail(Flaw("No address."))
        }
        ClientBootstrap(group: loop)
            .connectTimeout(.seconds(60))
            .channelInitializer { [self] channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHTTPClientHandlers()
                    try channel.pipeline.syncOperations.addHandler(WebChannelHandler(self))
                }
            }
            .connect(to: address)
            .whenComplete { [self] result in
                switch result {
                case .success(let channel) where state.value.isClosed: channel.close(promise: nil)
                case .success(let channel): state.value.channel = channel
                case .failure(let error): fail(error)
                }
            }
    }

    fileprivate func fail(_ error: any Error) {
        guard !state.value.isClosed else { return }
        opened.fail(error)
    }

    /// The next request: one that opens the channel, or one that waits for messages.
    fileprivate var request: (head: HTTPRequestHead, body: ByteBuffer?) {
        var query = "VER=8&database=\(Self.encoded(WebChannelStreams.database))&t=1"
        var head = HTTPRequestHead(version: .http1_1, method: .POST, uri: "")
        head.headers.add(name: "Host", value: "127.0.0.1:\(port)")
        if !keepsConnections { head.headers.add(name: "Connection", value: "close") }
        var body: ByteBuffer?
        if let session = state.value.session {
            head.method = .GET
            query += "&RID=rpc&SID=\(session)&AID=\(state.value.acknowledged)&CI=0&TYPE=xmlhttp"
            if let id = state.value.httpSession { query += "&gsessionid=\(Self.encoded(id))" }
        } else {
            query += "&RID=10000&CVER=22&X-HTTP-Session-Id=gsessionid"
            var form = "headers=\(Self.encoded("Authorization:Bearer owner\r\n"))"
            form += "&count=\(messages.count)&ofs=0"
            for (number, message) in messages.enumerated() {
                form += "&req\(number)___data__=\(Self.encoded(message))"
            }
            head.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
            head.headers.add(name: "Content-Length", value: "\(form.utf8.count)")
            body = ByteBuffer(string: form)
        }
        head.uri = "/google.firestore.v1.Firestore/Listen/channel?\(query)"
        return (head, body)
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }

    /// Begins a reply, and returns whether the connection takes another request behind it.
    fileprivate func begin(_ head: HTTPResponseHead) -> Bool {
        if head.status != .ok { fail(Flaw("A stream was answered \(head.status).")) }
        if state.value.session == nil {
            state.value.httpSession = head.headers.first(name: "X-HTTP-Session-Id")
        }
        return keepsConnections && head.isKeepAlive
    }

    /// Takes bytes of a reply.
    fileprivate func take(_ bytes: ByteBuffer) {
        if state.value.take(bytes) { opened.succeed() }
    }

    /// Ends a reply, and returns whether another request follows.
    fileprivate func endReply() -> Bool {
        guard !state.value.isClosed else { return false }
        let reply = state.value.reply
        if state.value.session == nil {
            let text = String(decoding: reply, as: UTF8.self)
            guard let greeting = text.firstMatch(of: /"c",\s*"([^"]+)"/) else {
                fail(Flaw("The server opens no channel."))
                return false
            }
            state.value.session = String(greeting.output.1)
        } else {
            state.value.acknowledged = Self.lastNumber(in: reply) ?? state.value.acknowledged
            state.value.earlierBytes += reply.count
        }
        (state.value.reply, state.value.scanned) = ([], 0)
        return true
    }

    /// Continues on another connection, for servers that close the one of the last request.
    fileprivate func reconnect() { connect() }

    /// Returns the number of the last message of a reply, which consists of lengths and arrays of messages.
    private static func lastNumber(in reply: [UInt8]) -> Int? {
        var rest = reply[...]
        var last: ArraySlice<UInt8>?
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")),
            let length = Int(String(decoding: rest[..<end], as: UTF8.self)),
            end + length < rest.endIndex
        {
            // The documents are ASCII, so that the length in code units is the one in bytes.
            last = rest[(end + 1)...(end + length)]
            rest = rest[(end + length + 1)...]
        }
        let messages = last.flatMap { try? JSONSerialization.jsonObject(with: Data($0)) }
        return ((messages as? [Any])?.last as? [Any])?.first as? Int
    }
}

/// Passes requests and replies between a connection and its stream.
private final class WebChannelHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundOut = HTTPClientRequestPart

    private let stream: WebChannelStream
    private var staysOpen = true
    /// Whether the stream continues on another connection.
    private var isLeft = false

    init(_ stream: WebChannelStream) { self.stream = stream }

    func channelActive(context: ChannelHandlerContext) { send(context) }

    private func send(_ context: ChannelHandlerContext) {
        let (head, body) = stream.request
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if let body { context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            staysOpen = stream.begin(head)
        case .body(let bytes): stream.take(bytes)
        case .end:
            guard stream.endReply() else { return context.close(promise: nil) }
            if staysOpen { return send(context) }
            isLeft = true
            context.close(promise: nil)
            stream.reconnect()
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        if !isLeft { stream.fail(Flaw("The server closed a connection.")) }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        stream.fail(error)
        context.close(promise: nil)
    }
}
