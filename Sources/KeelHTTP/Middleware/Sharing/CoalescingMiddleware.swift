public import HTTPTypes
import KeelCore

/// Sends identical requests that are under way at the same time once.
///
/// The first call of a key carries out the exchange for all; each caller gets its own complete
/// copy of the response, or the error. A caller that is cancelled leaves the others alone; with the
/// last one the exchange is cancelled. Because the shared exchange includes redirects and
/// repetitions, callers do not multiply them.
///
/// Only `GET` and `HEAD` without a body are shared, and only if their responses are read into
/// memory: streams are not. Two calls are identical if their target and all their header fields
/// are, apart from those that name a request (``ignoredFields``), if they ask the same of the layers
/// below (see ``HTTPCallOptionKey/sharingKey(of:)``; a cache's policy, for one), and if they are
/// signed for the same user. A client with an ``HTTPAuthorizing`` layer says whose its calls are, and
/// calls of a token source that cannot tell are not shared. Where a layer of your own adds credentials
/// further down without being one, name the user in `identity`: otherwise two users of one client
/// could share a response. A user who signs in while a call is under way gets none that it was asked
/// for in another's name.
///
/// Notes of the layers below about the reply, such as where a cache found it, are kept.
///
/// Place it in ``NetworkClient/Configuration/middleware``, or below a cache in
/// ``NetworkClient/Configuration/hopMiddleware``.
public struct CoalescingMiddleware: HTTPMiddleware {
    /// Fields that do not make two requests different: they name or time a request.
    public static let ignoredFields: Set<HTTPField.Name> = Set(
        ["traceparent", "tracestate", "baggage", "X-Request-ID", "X-Correlation-ID"]
            .compactMap { HTTPField.Name($0) } + [.date]
    )

    private let varying: Set<HTTPField.Name>?
    private let ignored: Set<HTTPField.Name>
    private let identity: @Sendable (HTTPCall) -> String?
    private let flights = SingleFlight<RequestIdentity, SharedReply>()

    /// Creates the layer.
    ///
    /// - Parameters:
    ///   - varying: The fields on which the responses of the service depend; nil is all fields.
    ///     Credentials, ranges and conditions count in any case.
    ///   - ignored: The fields that do not count where `varying` is nil.
    ///   - identity: Whose call it is, where that is not to be seen in its fields.
    public init(
        varying: Set<HTTPField.Name>? = nil,
        ignoring ignored: Set<HTTPField.Name> = Self.ignoredFields,
        identity: @escaping @Sendable (HTTPCall) -> String? = { _ in nil }
    ) {
        self.varying = varying
        self.ignored = ignored
        self.identity = identity
    }

    /// How many calls wait for an exchange that may be shared.
    package var waiterCount: Int { flights.waiterCount }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard let collection = call.collection, call.options.coalesces,
            call.body == nil, call.options.downloadObserver == nil,
            call.head.method == .get || call.head.method == .head,
            let user = await user(of: call), let key = key(of: call, collection, user)
        else { return try await next(call) }
        var shared = call
        // Each caller has a limit of its own; the first one's must not bind the others.
        shared.deadline = nil
        let leader = shared
        let reply: SharedReply
        do {
            reply = try await flights.run(key) {
                let reply = try await next(leader)
                let bytes = try await collection.bytes(of: reply, to: leader.head.method)
                // The token is chosen further down, later than the key was made.
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

    /// Whose call it is; nil if it will be signed and nobody can tell for whom.
    private func user(of call: HTTPCall) async -> [String?]? {
        let named = identity(call)
        guard let signer = call.options.signer, call.options.authentication != .none,
            call.head.headerFields[.authorization] == nil
        else { return [named] }
        let signed = await signer.identity()
        return named == nil && signed == nil ? nil : [named, signed]
    }

    private func key(
        of call: HTTPCall,
        _ collection: BodyCollection,
        _ user: [String?]
    ) -> RequestIdentity? {
        guard let wishes = call.options.sharingKeys() else { return nil }
        let fields = call.head.headerFields.filter { field in
            Self.alwaysVarying.contains(field.name)
                || (varying.map { $0.contains(field.name) } ?? !ignored.contains(field.name))
        }
        return RequestIdentity(
            call.head,
            call.origin,
            Array(fields),
            user,
            wishes,
            collection
        )
    }

    private static let alwaysVarying: Set<HTTPField.Name> = [
        .authorization, .cookie, .proxyAuthorization, .range, .ifRange, .ifMatch, .ifNoneMatch,
        .ifModifiedSince, .ifUnmodifiedSince, .cacheControl,
    ]
}

extension HTTPCallOptions {
    private enum CoalescenceKey: HTTPCallOptionKey {
        static var defaultValue: Bool { true }
    }

    /// Whether the call may share the exchange of an identical one that is under way.
    public var coalesces: Bool {
        get { self[CoalescenceKey.self] }
        set { self[CoalescenceKey.self] = newValue }
    }
}

/// What makes two requests the same.
///
/// Of the header fields and options, which may hold credentials, only a digest is kept: 128 bits under the
/// process's own secret key.
private struct RequestIdentity: Hashable, Sendable {
    let method: String
    let origin: HTTPOrigin
    let path: String?
    let collection: BodyCollection
    let digest: [Int]

    init(
        _ head: HTTPRequest,
        _ origin: HTTPOrigin,
        _ fields: [HTTPField],
        _ user: [String?],
        _ wishes: [ObjectIdentifier: AnyHashable],
        _ collection: BodyCollection
    ) {
        method = head.method.rawValue
        self.origin = origin
        path = head.path
        self.collection = collection
        // Fields of one name stay in their order, which means something; names do not.
        let values = Dictionary(grouping: fields, by: \.name).mapValues { $0.map(\.value) }
        digest = [1, 2].map { half in
            var hasher = Hasher()
            hasher.combine(half)
            hasher.combine(values)
            hasher.combine(user)
            hasher.combine(wishes)
            return hasher.finalize()
        }
    }
}

/// A response of which any number of callers can have a copy.
private struct SharedReply: Sendable {
    let head: HTTPResponse
    let bytes: [UInt8]
    let trailers: HTTPFields?
    let connection: ConnectionInfo?
    let notes: HTTPReplyNotes
    /// The call that carried it out.
    let call: HTTPCallID
    /// Whether the others who waited may have it too.
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
