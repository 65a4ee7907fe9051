/// What has to be stored under a name for a change to take place.
public enum SecretExpectation: Hashable, Sendable {
    /// Whatever there is.
    case anything
    /// Nothing.
    case absent
    /// These bytes.
    case bytes([UInt8])

    /// Whether a stored value is what is expected.
    ///
    /// - Parameter stored: The bytes, nil where there is no secret.
    /// - Returns: Whether the change may take place.
    public func holds(for stored: [UInt8]?) -> Bool {
        switch self {
        case .anything: true
        case .absent: stored == nil
        case .bytes(let bytes): stored == bytes
        }
    }
}

extension SecretExpectation: CustomStringConvertible, CustomReflectable {
    /// The case alone; the bytes are a secret.
    public var description: String {
        switch self {
        case .anything: "anything"
        case .absent: "absent"
        case .bytes: "bytes"
        }
    }

    public var customMirror: Mirror { Mirror(self, children: []) }
}
