#if Crypto
struct KeysetParts {
    /// A key, or the remains of a destroyed key that Tink wrote.
    private enum Part {
        case key(KeysetKey)
        case hollow(id: UInt32, KeysetKey.Prefix)
    }

    private var parts: [Part] = []

    mutating func add(
        _ id: UInt32,
        _ type: String,
        _ value: ArraySlice<UInt8>,
        _ status: KeysetKey.Status?,
        _ prefix: KeysetKey.Prefix?
    ) throws(SecurityError) {
        guard let status else {
            throw SecurityError(.invalidKey, "key \(id) has an unknown status")
        }
        guard let prefix else {
            throw SecurityError(.invalidKey, "key \(id) has an unknown prefix")
        }
        if status == .destroyed, type.isEmpty {
            parts.append(.hollow(id: id, prefix))
            return
        }
        parts.append(
            .key(
                try KeyCoding.key(
                    id: id,
                    typeURL: type,
                    value: value,
                    status: status,
                    prefix: prefix
                )
            )
        )
    }

    /// Returns the keys, assigning the primary key's algorithm to destroyed keys without a type.
    func keys(primaryID: UInt32) throws(SecurityError) -> [KeysetKey] {
        var algorithm: KeyAlgorithm?
        for case .key(let key) in parts where key.id == primaryID { algorithm = key.algorithm }
        guard let algorithm else {
            throw SecurityError(.invalidKey, "the keyset has no enabled primary key")
        }
        return parts.map { part in
            switch part {
            case .key(let key): key
            case .hollow(let id, let prefix):
                KeysetKey(
                    id: id,
                    algorithm: algorithm,
                    prefix: prefix,
                    status: .destroyed,
                    dates: KeyDates()
                )
            }
        }
    }
}
#endif
