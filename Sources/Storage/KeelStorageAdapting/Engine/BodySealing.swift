package import KeelCore
package import KeelDocuments

/// The encryption of stored data, if the store has a key.
package struct BodySealing: Sendable {
    package let sealing: (any ByteSealing)?

    package init(sealing: (any ByteSealing)?) { self.sealing = sealing }

    package func seal(_ body: DocumentBody, of path: DocumentPath) throws(StorageError) -> [UInt8] {
        guard let sealing else { return body.bytes }
        do {
            return try sealing.seal(body.bytes, context: Self.context(of: path))
        } catch {
            throw StorageError(
                .permissionDenied,
                "the document “\(path)” could not be sealed",
                resource: path.string,
                cause: error
            )
        }
    }

    package func open(_ bytes: [UInt8], of path: DocumentPath) throws(StorageError) -> DocumentBody
    {
        guard let sealing else { return DocumentBody(bytes: bytes) }
        do {
            return DocumentBody(bytes: try sealing.open(bytes, context: Self.context(of: path)))
        } catch {
            throw StorageError(
                .corrupted,
                "the document “\(path)” cannot be opened with the store’s key",
                resource: path.string,
                cause: error
            )
        }
    }

    package func seal(_ bytes: [UInt8], as context: String) throws -> [UInt8] {
        guard let sealing else { return bytes }
        return try sealing.seal(bytes, context: Array(context.utf8))
    }

    package func open(_ bytes: [UInt8], as context: String) throws -> [UInt8] {
        guard let sealing else { return bytes }
        return try sealing.open(bytes, context: Array(context.utf8))
    }

    /// Returns the keyed hash that replaces the key in an equality-only index.
    package func fingerprint(_ key: [UInt8], in index: [UInt8]) throws -> [UInt8] {
        guard let sealing else { return key }
        return try sealing.fingerprint(key, context: index)
    }

    private static func context(of path: DocumentPath) -> [UInt8] { Array(path.string.utf8) }
}
