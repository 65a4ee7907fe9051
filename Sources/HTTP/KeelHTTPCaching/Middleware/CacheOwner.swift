import HTTPTypes
import KeelHTTP

/// The user whose responses a call may see, determined before the call is sent.
struct CacheOwner: Sendable {
    let name: String?
    /// The source of the decision; nil in a cache that does not separate users.
    private let partition: HTTPCachePartition?
    private let signer: String?
    /// Whether credentials added by a lower layer belong to the signed-in user.
    let coversAuthorization: Bool

    init?(of call: HTTPCall, _ configuration: HTTPCache.Configuration) async {
        guard configuration.audience == .privateCache else {
            name = nil
            partition = nil
            signer = nil
            coversAuthorization = false
            return
        }
        partition = configuration.partition
        signer = await Self.signer(of: call)
        coversAuthorization = signer != nil && Self.announcesAuthorization(call)
        guard await Self.hasSameUser(call) else { return nil }
        // Another user's call is refused when it is signed. Cookies do not count.
        if let owner = call.options.owner,
            let origin = HTTPOrigin(call.head),
            let authorization = call.actingSigner?.ofAuthorization(at: origin),
            await authorization.identity() != owner
        {
            return nil
        }
        switch await configuration.partition.owner(call) {
        case .everyone: name = nil
        case .user(let user): name = user
        case .unknown: return nil
        }
    }

    /// Returns whether a call was sent in this user's name.
    ///
    /// Lower layers sign a call after its owner was determined, and another user may have signed in
    /// by then, and out again.
    func owns(_ reply: HTTPReply, to call: HTTPCall) async -> Bool {
        guard let partition else { return true }
        let isAnnounced =
            call.head.headerFields[.authorization] != nil || Self.announcesAuthorization(call)
        if partition.countsCredentials, !isAnnounced,
            reply.notes.sentFields?[.authorization] != nil
        {
            return false
        }
        guard await Self.signer(of: call) == signer, await Self.hasSameUser(call) else {
            return false
        }
        switch await partition.owner(call) {
        case .everyone: return name == nil
        case .user(let user): return name == user
        case .unknown: return false
        }
    }

    private static func signer(of call: HTTPCall) async -> String? {
        await call.actingSigner?.identity()
    }

    /// Whether the user is still the one for whom the call has been sent, if it has been.
    private static func hasSameUser(_ call: HTTPCall) async -> Bool {
        await call.actingSigner?.stillSigns(for: call.options.pin) ?? true
    }

    private static func announcesAuthorization(_ call: HTTPCall) -> Bool {
        call.actingSigner?.addsAuthorization == true
    }
}
