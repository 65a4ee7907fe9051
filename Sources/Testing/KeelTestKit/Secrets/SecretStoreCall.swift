public import KeelSecrets

/// A call to a secret store, as doubles record it.
public enum SecretStoreCall: Sendable, Hashable {
    /// A secret was read.
    case read(SecretName)
    /// A secret was saved, or deleted if there are no bytes.
    case replace(SecretName, with: [UInt8]?, expecting: SecretExpectation)
    /// The accounts of a service were listed.
    case accounts(of: String)

    /// The kinds of call.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// A secret was read.
        case read
        /// A secret was saved or deleted.
        case replace
        /// The accounts of a service were listed.
        case accounts
    }

    /// The kind of call.
    public var kind: Kind {
        switch self {
        case .read: .read
        case .replace: .replace
        case .accounts: .accounts
        }
    }
}

/// A fault in one call to a secret store.
public enum SecretStoreFault: Sendable {
    /// The call fails before it reaches the store.
    case failure(SecretError)
    /// The call takes effect, but the caller gets this error.
    case lostReply(SecretError)
    /// The call is delayed on the clock, then the other fault applies; nil lets it through.
    indirect case delay(Duration, then: SecretStoreFault?)

    /// Fails the call before it reaches the store.
    public static func fail(_ code: SecretError.Code = .unavailable) -> SecretStoreFault {
        .failure(SecretError(code, "an injected fault: the call did not get through"))
    }

    /// Lets the call take effect and loses its reply.
    public static func loseReply(_ code: SecretError.Code = .timeout) -> SecretStoreFault {
        .lostReply(SecretError(code, "an injected fault: the reply was lost"))
    }

    /// Delays the call on the clock, then lets it through.
    public static func delay(_ duration: Duration) -> SecretStoreFault {
        .delay(duration, then: nil)
    }
}

extension SecretStoreFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: SecretStoreFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
