public import HTTPTypes
import KeelCore

/// A layer that shares one exchange between identical calls in progress at the same time.
///
/// The first of the identical calls carries out the exchange; each caller gets its own copy of the response, or the
/// error. The exchange is canceled only with its last caller. Callers also share the retries below the layer.
///
/// Only `GET` and `HEAD` without a body are shared, and only if their responses are read into memory. Two calls are
/// identical if they have the same user, target, header fields except ``ignoredFields``, and options
/// (``HTTPCallOptionKey/sharingKey(of:)``).
///
/// An ``HTTPAuthorizing`` layer identifies the user of its calls; if it cannot, they are not shared. If a layer of your
/// own adds credentials without conforming, name the user in `identity`: otherwise two users of one client could share
/// a response. If the user changes while a call is in progress, the new user never gets the response of the old one.
///
/// A call that begins after a change has ended shares no exchange that began before. Changes are calls through this
/// layer to the same origin with any method but `GET`, `HEAD`, `OPTIONS` and `TRACE`.
///
/// Place it in ``NetworkClient/Configuration/middleware``, or below a cache in
/// ``NetworkClient/Configuration/hopMiddleware``.
public struct CoalescingMiddleware: HTTPMiddleware {
    /// Fields that do not distinguish two requests, because they only identify or date a request.
    public static let ignoredFields: Set<HTTPField.Name> = Set(
        ["traceparent", "tracestate", "baggage", "X-Request-ID", "X-Correlation-ID"]
            .compactMap { HTTPField.Name($0) } + [.date]
    )

    private let varying: Set<HTTPField.Name>?
    private let ignored: Set<HTTPField.Name>
    private let identity: @Sendable (HTTPCall) -> String?
    private let flights = SingleFlight<RequestIdentity, SharedReply>()
    /// The number of ended calls that may have changed something.
    private let changes = OriginTable<UInt64>(0)

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - varying: The fields that the responses of the service depend on; nil means all fields. Credentials, ranges,
    ///     conditions and `Cache-Control` always count.
    ///   - ignored: The fields to ignore if `varying` is nil.
    ///   - identity: Returns the user of a call if its fields do not show it.
    public init(
        varying: Set<HTTPField.Name>? = nil,
        ignoring ignored: Set<HTTPField.Name> = Self.ignoredFields,
        identity: @escaping @Sendable (HTTPCall) -> String? = { _ in nil }
    ) {
        self.varying = varying
        self.ignored = ignored
        self.identity = identity
    }

    /// The number of calls that wait for an exchange to share.
    package var waiterCount: Int { flights.waiterCount }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard Self.safeMethods.contains(call.head.method) else {
            defer { changes.with(call.origin) { $0 += 1 } }
            return try await next(call)
        }
        guard let collection = call.collection, call.options.allowsCoalescing,
            call.body == nil, call.options.downloadObserver == nil,
            call.head.method == .get || call.head.method == .head,
            let user = await user(of: call), let key = key(of: call, collection, user)
        else { return try await next(call) }
        let leader = call.shared()
        let reply: SharedReply
        do {
            reply = try await flights.run(key) {
                let reply = try await next(leader)
                let bytes = try await collection.bytes(of: reply, to: leader.head.method)
                // The token is chosen further down, after the key was made.
                let isSameUser = await self.user(of: leader) == user
                return SharedReply(reply, bytes, of: leader.id, isForAll: isSameUser)
            }
        } catch {
            throw (error as? TransportError) ?? TransportError(.cancelled)
        }
        guard reply.call != call.id else { return reply.copy }
        guard reply.isForAll else { return try await next(call) }
        call.record(.joined(reply.call))
        return reply.copy
    }

    /// Returns the user of a call; nil if the user cannot be determined or has changed since the call was signed.
    private func user(of call: HTTPCall) async -> [String?]? {
        let named = identity(call)
        guard let signer = call.actingSigner else { return [named] }
        let signed = await signer.identity()
        guard await signer.stillSigns(for: call.options.pin) else { return nil }
        return named == nil && signed == nil ? nil : [named, signed]
    }

    private func key(
        of call: HTTPCall,
        _ collection: BodyCollection,
        _ user: [String?]
    ) -> RequestIdentity? {
        guard let optionKeys = call.options.sharingKeys() else { return nil }
        let fields = call.head.headerFields.filter { field in
            Self.alwaysVarying.contains(field.name)
                || (varying.map { $0.contains(field.name) } ?? !ignored.contains(field.name))
        }
        return RequestIdentity(
            call.head,
            call.origin,
            Array(fields),
            user,
            optionKeys,
            collection,
            changeCount: changes.with(call.origin) { $0 }
        )
    }

    private static let safeMethods: Set<HTTPRequest.Method> = [.get, .head, .options, .trace]

    private static let alwaysVarying: Set<HTTPField.Name> = [
        .authorization, .cookie, .proxyAuthorization, .range, .ifRange, .ifMatch, .ifNoneMatch,
        .ifModifiedSince, .ifUnmodifiedSince, .cacheControl,
    ]
}

extension HTTPCallOptions {
    private enum CoalescenceKey: HTTPCallOptionKey {
        static var defaultValue: Bool { true }
    }

    /// Whether the call may share the exchange of an identical one in progress.
    public var allowsCoalescing: Bool {
        get { self[CoalescenceKey.self] }
        set { self[CoalescenceKey.self] = newValue }
    }
}

/// The key by which requests are identical.
///
/// Of the header fields and options, which may contain credentials, it has only a digest of 128 bits under the
/// process's own secret key.
private struct RequestIdentity: Hashable, Sendable {
    let method: String
    let origin: HTTPOrigin
    let path: String?
    let collection: BodyCollection
    let changeCount: UInt64
    let digest: [Int]

    init(
        _ head: HTTPRequest,
        _ origin: HTTPOrigin,
        _ fields: [HTTPField],
        _ user: [String?],
        _ optionKeys: [ObjectIdentifier: AnyHashable],
        _ collection: BodyCollection,
        changeCount: UInt64
    ) {
        method = head.method.rawValue
        self.origin = origin
        path = head.path
        self.collection = collection
        self.changeCount = changeCount
        // The order of fields with the same name matters; the order of names does not.
        let values = Dictionary(grouping: fields, by: \.name).mapValues { $0.map(\.value) }
        digest = [1, 2].map { half in
            var hasher = Hasher()
            hasher.combine(half)
            hasher.combine(values)
            hasher.combine(user)
            hasher.combine(optionKeys)
            return hasher.finalize()
        }
    }
}

private struct SharedReply: Sendable {
    let head: HTTPResponse
    let bytes: [UInt8]
    let trailers: HTTPFields?
    let connection: ConnectionInfo?
    let notes: HTTPReplyNotes
    let call: HTTPCallID
    /// Whether the other waiting calls may have the response.
    let isForAll: Bool

    init(_ reply: HTTPReply, _ bytes: [UInt8], of call: HTTPCallID, isForAll: Bool) {
        head = reply.head
        self.bytes = bytes
        trailers = reply.body.trailers
        connection = reply.connection
        notes = reply.notes
        self.call = call
        self.isForAll = isForAll
    }

    var copy: HTTPReply {
        var reply = HTTPReply(
            head: head,
            body: .collected(bytes, trailers: trailers),
            connection: connection
        )
        reply.notes = notes
        return reply
    }
}
