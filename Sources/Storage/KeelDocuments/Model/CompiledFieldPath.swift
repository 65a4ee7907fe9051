internal import KeelCBOR

/// A field path whose names are stored as UTF-8 bytes, as in document bodies.
package struct CompiledFieldPath: Sendable, Hashable {
    package let names: [[UInt8]]

    package init(_ path: FieldPath) { names = path.names.map { Array($0.utf8) } }
}

extension CBORReader {
    /// Advances from the beginning of a body to the value of a field.
    ///
    /// - Returns: Whether the field exists.
    mutating func moveToField(_ field: CompiledFieldPath) throws(CBORError) -> Bool {
        for name in field.names {
            guard try peekKind() == .map, let count = try readMapHeader() else { return false }
            guard try moveToValue(of: name, among: count) else { return false }
        }
        return true
    }

    private mutating func moveToValue(
        of name: [UInt8],
        among count: Int
    ) throws(CBORError) -> Bool {
        for _ in 0..<count {
            let key = try readTextRange(validating: false)
            // A deterministic encoding sorts shorter names first.
            if key.count > name.count { return false }
            if textEquals(key, name) { return true }
            try skip()
        }
        return false
    }
}
