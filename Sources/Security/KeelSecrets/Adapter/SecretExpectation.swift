/// A precondition on the stored secret for a change.
public enum SecretExpectation: Hashable, Sendable {
    /// The change is unconditional.
    case anything
    /// There must be no secret.
    case absent
    /// The secret must have these bytes.
    case bytes([UInt8])

    /// Returns whether a stored value, or nil if there is none, meets the expectation.
    public func holds(for stored: [UInt8]?) -> Bool {
        switch self {
        case .anything: true
        case .absent: stored == nil
        case .bytes(let bytes): stored == bytes
        }
    }
}

extension SecretExpectation: CustomStringConvertible, CustomReflectable {
    /// The name of the case, without the secret bytes.
    public var description: String {
        switch self {
        case .anything: "anything"
        case .absent: "absent"
        case .bytes: "bytes"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
