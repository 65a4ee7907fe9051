public import KeelSecrets

/// One call of a store of secrets, as doubles remember it.
public enum SecretStoreCall: Sendable, Hashable {
    /// A secret was asked for.
    case read(SecretName)
    /// A secret was to be saved, or removed where there are no bytes.
    case replace(SecretName, with: [UInt8]?, expecting: SecretExpectation)
    /// The accounts of a service were asked for.
    case accounts(of: String)

    /// The kinds of calls.
    public enum Kind: Sendable, Hashable, CaseIterable {
        /// A secret was asked for.
        case read
        /// A secret was to be saved or removed.
        case replace
        /// The accounts of a service were asked for.
        case accounts
    }

    /// Which kind of call it is.
    public var kind: Kind {
        switch self {
        case .read: .read
        case .replace: .replace
        case .accounts: .accounts
        }
    }
}

/// What goes wrong with one call of a store of secrets.
public enum SecretStoreFault: Sendable {
    /// The call fails before it reaches the store.
    case failure(SecretError)
    /// The call takes effect, and its caller gets this error in place of the answer.
    case lostReply(SecretError)
    /// The call takes this long on the clock, and then the other thing happens; nil is nothing.
    indirect case delay(Duration, then: SecretStoreFault?)

    /// The call fails before it reaches the store; nothing has happened.
    public static func fail(_ code: SecretError.Code = .unavailable) -> SecretStoreFault {
        .failure(SecretError(code, "an injected fault: the call did not get through"))
    }

    /// The call takes effect and its reply is lost.
    public static func loseReply(_ code: SecretError.Code = .timeout) -> SecretStoreFault {
        .lostReply(SecretError(code, "an injected fault: the reply was lost"))
    }

    /// The call takes this long on the clock, and goes through.
    public static func delay(_ duration: Duration) -> SecretStoreFault {
        .delay(duration, then: nil)
    }
}

extension SecretStoreFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: SecretStoreFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
