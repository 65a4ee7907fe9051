import HTTPTypes
import KeelHTTP

/// Whose responses a call may see, decided before the call is sent.
struct CacheOwner: Sendable {
    /// Names the user; nil for what is everybody's.
    let name: String?
    /// The source of the decision; nil in a cache that does not separate users.
    private let partition: HTTPCachePartition?
    private let signer: String?

    /// Asks whose a call is; nil where nobody can tell.
    init?(of call: HTTPCall, _ configuration: HTTPCache.Configuration) async {
        guard configuration.audience == .onePerson else {
            name = nil
            partition = nil
            signer = nil
            return
        }
        partition = configuration.partition
        signer = await Self.signer(of: call)
        switch await configuration.partition.owner(call) {
        case .everybody: name = nil
        case .user(let user): name = user
        case .unknown: return nil
        }
    }

    /// Whether tokens that are added further down are this user's, whoever that is.
    var coversAuthorization: Bool { signer != nil }

    /// Whether a call was sent in this user's name.
    ///
    /// Layers further down sign a call later than its owner was asked for: another user may have
    /// signed in by then. A signer gives no name to two users, so that the same name before and
    /// after is the same user in between.
    func owns(_ reply: HTTPReply, to call: HTTPCall) async -> Bool {
        guard let partition else { return true }
        let isAnnounced =
            call.head.headerFields[.authorization] != nil || Self.signer(in: call) != nil
        if partition.countsCredentials, !isAnnounced,
            reply.notes.sentFields?[.authorization] != nil
        {
            return false
        }
        guard await Self.signer(of: call) == signer else { return false }
        switch await partition.owner(call) {
        case .everybody: return name == nil
        case .user(let user): return name == user
        case .unknown: return false
        }
    }

    private static func signer(of call: HTTPCall) async -> String? {
        await signer(in: call)?.identity()
    }

    private static func signer(in call: HTTPCall) -> CallSigner? {
        call.options.authentication == .none ? nil : call.options.signer
    }
}
