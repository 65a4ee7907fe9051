import Synchronization

/// The user in whose name a call is sent, which its first attempt decides.
///
/// All attempts of a call, connections of a stream and requests of a transfer share one pin, so that none is signed for
/// a user who has signed in later.
package final class SessionPin: Sendable {
    // By layer: a redirect may lead to an origin that another layer signs for.
    private let names = Mutex<[ObjectIdentifier: (name: String?, isIdentity: Bool)]>([:])

    package init() {}

    /// Returns whether a layer may send the call for this user; the first use decides.
    ///
    /// A nil name is a call without credentials, or of a user that the layer cannot name. `isIdentity` says whether the
    /// name is the layer's ``HTTPAuthorizing/identity``.
    package func admits(
        _ name: String?,
        at layer: ObjectIdentifier,
        isIdentity: Bool = true
    ) -> Bool {
        names.withLock { names in
            guard let first = names[layer] else {
                names[layer] = (name, isIdentity)
                return true
            }
            return first.name == name
        }
    }

    package var identities: Set<String> {
        names.withLock { names in
            Set(names.values.compactMap { $0.isIdentity ? $0.name : nil })
        }
    }
}

extension HTTPCallOptions {
    private enum PinKey: HTTPCallOptionKey {
        static var defaultValue: SessionPin? { nil }
        // Layers that share responses ask the signer for the user.
        static func sharingKey(of pin: SessionPin?) -> AnyHashable? { 0 }
    }

    private enum OwnerKey: HTTPCallOptionKey {
        static var defaultValue: String? { nil }
    }

    /// The pin of the call, set by a client that signs calls unless the call is one of several with a common pin.
    package var pin: SessionPin? {
        get { self[PinKey.self] }
        set { self[PinKey.self] = newValue }
    }

    /// The only user for whom the call may be signed, as the signing layer's ``HTTPAuthorizing/identity``; nil means
    /// the user who is signed in at the first attempt.
    ///
    /// Set it for a call that is sent later than it was made, such as one from an outbox. If another user or no user is
    /// signed in, or the source of tokens has no `TokenSource.identity`, the call fails with
    /// ``TransportError/Code/credentialsUnavailable`` before it is sent. If calls are signed with a constant token or a
    /// password, the identity is a hash of it.
    ///
    /// `BearerAuthorization` and `BasicAuthorization` enforce it for the calls that they sign. Others are sent all the
    /// same: calls to another origin, with an `Authorization` field of their own, or that are not signed.
    public var owner: String? {
        get { self[OwnerKey.self] }
        set { self[OwnerKey.self] = newValue }
    }
}
