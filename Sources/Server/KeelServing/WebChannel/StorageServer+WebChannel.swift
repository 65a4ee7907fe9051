import HTTPTypes
import KeelHTTP
import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore
import Synchronization

/// Firestore's streams over WebChannel, by which web pages listen and write.
extension StorageServer {
    /// Answers a request that opens a session, sends messages, or waits for them.
    func webChannel(
        _ call: HTTPCall,
        _ stream: FirestoreRoute.Call,
        _ items: RequestItems
    ) async throws(ServingFailure) -> HTTPReply {
        guard items["VER"] == "8" else {
            throw .invalid("“VER” must be 8, the version of WebChannel")
        }
        guard let id = items["SID"] else {
            guard call.head.method == .post else { throw .invalid("“SID” is missing") }
            return try await open(call, stream, items)
        }
        // Clients open a new session after this status.
        guard let session = channels[id] else { return .text(.badRequest, "Unknown SID\n") }
        guard try await principal(of: session.signed(call.head))?.id == session.principal?.id else {
            throw .forbidden("the session of the WebChannel is that of another caller")
        }
        let acknowledged = items["AID"].flatMap { Int($0) } ?? 0
        guard call.head.method == .post else {
            var reply = HTTPReply.webChannel([])
            reply.head.headerFields[.contentLength] = nil
            // HEAD takes no messages, and leaves them to the response that waits for them.
            guard call.head.method != .head else { return reply }
            // Such a client cannot read a response before its end.
            let isBuffered = items["CI"] == "1"
            reply.body = session.messages(after: acknowledged, isBuffered: isBuffered)
            return reply
        }
        guard items["TYPE"] != "terminate" else {
            session.cutOff()
            return .webChannel([])
        }
        let (messages, first) = try messages(
            of: try await form(of: call, upTo: configuration.maximumBodyBytes)
        )
        guard let status = session.take(messages, from: first, acknowledging: acknowledged) else {
            throw .invalid("too many messages of the session are missing, or wait for its stream")
        }
        channels.makeRoom(upTo: configuration.maximumBacklogBytes)
        return .webChannel(status)
    }

    private func open(
        _ call: HTTPCall,
        _ stream: FirestoreRoute.Call,
        _ items: RequestItems
    ) async throws(ServingFailure) -> HTTPReply {
        let (principal, authorization, form) = try await opening(call)
        guard let database = items["database"] else { throw .invalid("“database” is missing") }
        let server = try server(of: database)
        let (messages, first) = try messages(of: form)
        let name = configuration.serverName
        let session = WebChannelSession(
            id: (name.isEmpty ? "" : name + "-") + configuration.makeID(),
            in: channels.held,
            principal: principal,
            caller: CallerID(principal, on: call.options.connection),
            authorization: authorization
        )
        do throws(CallerPlaces.Refusal) {
            try channels.open(session)
        } catch {
            throw ServingFailure(
                StorageError(.unavailable, error.message),
                as: .resourceExhausted
            )
        }
        _ = session.take(messages, from: first, acknowledging: 0)
        StorageContext().of(principal).starting {
            _ = Task { [channels] in
                await session.run(stream, in: database, of: server, among: channels)
                channels.close(session)
            }
        }
        let seconds = WebChannelSession.heartbeat.components.seconds
        let greeting = #"[[0,["c","\#(session.id)","",8,12,\#(seconds * 1_000)]]]"#
        return .webChannel(WebChannelState.framed(Array(greeting.utf8)))
    }

    /// The maximum size of a form that is read before its caller is known, in bytes.
    private static let mostUnauthenticatedBytes = 1 << 20

    /// Authenticates the request that opens a session, and returns its form.
    ///
    /// Firestore's SDKs for web pages send the header fields in the form of this request only, to avoid a preflight of
    /// CORS. Only `Authorization` is taken from there: proxies may have removed other fields.
    ///
    /// - Returns: The principal, the `Authorization` of the form if it has authenticated the request, and the form.
    private func opening(
        _ call: HTTPCall
    ) async throws(ServingFailure) -> (StoragePrincipal?, String?, RequestItems) {
        var head = call.head
        guard configuration.authenticate != nil, head.headerFields[.authorization] == nil else {
            let principal = try await principal(of: head)
            let form = try await self.form(of: call, upTo: configuration.maximumBodyBytes)
            return (principal, nil, form)
        }
        // Anybody can make the server read this much.
        let limit = min(configuration.maximumBodyBytes, Self.mostUnauthenticatedBytes)
        let form = try await self.form(of: call, upTo: limit)
        let authorization = Self.authorization(in: form)
        head.headerFields[.authorization] = authorization
        return (try await principal(of: head), authorization, form)
    }

    private static func authorization(in form: RequestItems) -> String? {
        for line in (form["headers"] ?? "").split(whereSeparator: \.isNewline) {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "authorization" else { continue }
            return String(parts[1].drop { $0 == " " })
        }
        return nil
    }

    private func form(
        of call: HTTPCall,
        upTo limit: Int
    ) async throws(ServingFailure) -> RequestItems {
        let bytes = try await call.bytes(upTo: limit)
        return try RequestItems(Substring(decoding: bytes, as: UTF8.self).utf8, isForm: true)
    }

    /// Returns the messages in a form, and the number of the first one.
    private func messages(
        of form: RequestItems
    ) throws(ServingFailure) -> ([WebChannelState.Request], first: Int) {
        let count = Int(form["count"] ?? "0") ?? -1
        let first = Int(form["ofs"] ?? "0") ?? -1
        guard (0...1_000).contains(count), (0...1 << 50).contains(first) else {
            throw .invalid("“count” or “ofs” is out of range")
        }
        var messages: [WebChannelState.Request] = []
        for number in 0..<count {
            guard let text = form["req\(number)___data__"] else {
                throw .invalid("“req\(number)___data__” is missing")
            }
            do throws(FirestoreJSONError) {
                let message = WebChannelState.Request(text: Array(text.utf8))
                _ = try FirestoreJSON(
                    parsing: message.text,
                    deepest: configuration.maximumJSONLevels,
                    mostValues: configuration.maximumJSONValues
                )
                messages.append(message)
            } catch {
                throw .invalid("“req\(number)___data__” is not valid JSON: \(error)")
            }
        }
        return (messages, first)
    }
}

final class WebChannels: Sendable {
    private struct State {
        var places: CallerPlaces
        var sessions: [String: WebChannelSession] = [:]
    }

    private let state: Mutex<State>
    /// The bytes that the sessions hold.
    let held = ByteCount()

    init(_ places: CallerPlaces) { state = Mutex(State(places: places)) }

    var count: Int { state.withLock(\.places.count) }

    subscript(id: String) -> WebChannelSession? { state.withLock { $0.sessions[id] } }

    func open(_ session: WebChannelSession) throws(CallerPlaces.Refusal) {
        try state.withLock { state throws(CallerPlaces.Refusal) in
            try state.places.enter(session.caller)
            let former = state.sessions.updateValue(session, forKey: session.id)
            if let former { state.places.leave(former.caller) }
        }
    }

    func close(_ session: WebChannelSession) {
        state.withLock { state in
            guard state.sessions[session.id] === session else { return }
            state.sessions[session.id] = nil
            state.places.leave(session.caller)
        }
    }

    /// While all sessions hold too much, ends the largest ones of the callers whose sessions hold most.
    func makeRoom(upTo most: Int) {
        guard held.value > most else { return }
        let all = state.withLock { Array($0.sessions.values) }
            .map { (holder: $0, caller: $0.caller, bytes: $0.heldBytes) }
        for session in CallerID.largestFirst(all) {
            guard held.value > most else { return }
            close(session)
            session.cutOff()
        }
    }
}

extension HTTPReply {
    fileprivate static func webChannel(_ bytes: [UInt8]) -> HTTPReply {
        var reply = HTTPReply.bytes(.ok, type: "text/plain; charset=utf-8", bytes)
        reply.head.headerFields[.cacheControl] = "no-store"
        reply.head.headerFields[.xContentTypeOptions] = "nosniff"
        // Tells nginx to pass messages on as they arrive.
        reply.head.headerFields[.accelBuffering] = "no"
        return reply
    }
}

extension HTTPField.Name {
    fileprivate static let accelBuffering = known("X-Accel-Buffering")
}
