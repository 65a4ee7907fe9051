package import KeelCore
package import KeelDocuments

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

    package func seal(_ bytes: [UInt8], as context: String) throws(StorageError) -> [UInt8] {
        guard let sealing else { return bytes }
        do {
            return try sealing.seal(bytes, context: Array(context.utf8))
        } catch {
            throw StorageError(
                .permissionDenied,
                "the contents of the store could not be sealed with the store’s key",
                cause: error
            )
        }
    }

    package func open(_ bytes: [UInt8], as context: String) throws(StorageError) -> [UInt8] {
        guard let sealing else { return bytes }
        do {
            return try sealing.open(bytes, context: Array(context.utf8))
        } catch {
            throw StorageError(
                .corrupted,
                "a record of the store cannot be opened with the store’s key",
                cause: error
            )
        }
    }

    // MARK: Proof of the key

    private static let proof = Array("a Keel store".utf8)
    private static let proofContext = "keel/proof"

    package func newProof() throws -> [UInt8]? {
        sealing == nil ? nil : try seal(Self.proof, as: Self.proofContext)
    }

    /// Whether the key is available, and is that of a store with a proof; true without a key.
    package func opens(_ proof: [UInt8]?) -> Bool {
        guard sealing != nil else { return true }
        guard let proof else { return false }
        return (try? open(proof, as: Self.proofContext)) == Self.proof
    }

    /// - Parameter proof: The proof of a store that has passed ``check(_:opensDocument:)``.
    /// - Returns: The new proof; nil if the proof is under this key already, or the store has no key.
    /// - Throws: Errors of the sealing.
    package func renewed(_ proof: [UInt8]?) throws -> [UInt8]? {
        guard let sealing, let proof else { return nil }
        guard opens(proof) else { return try newProof() }
        return try sealing.reseal(proof, context: Array(Self.proofContext.utf8))
    }

    /// Checks that a store is opened with its key.
    ///
    /// - Parameters:
    ///   - proof: The store's proof; nil for a store without encryption.
    ///   - opensDocument: Returns whether the key opens a document of the store. The key of the proof may have been
    ///     destroyed after all documents were written under a later one.
    /// - Throws: `StorageError/Code/permissionDenied` for a missing, unnecessary or wrong key, and the errors of the
    ///   closure.
    package func check(_ proof: [UInt8]?, opensDocument: () throws -> Bool) throws {
        switch (proof, sealing) {
        case (nil, nil): return
        case (nil, _?):
            throw StorageError(
                .permissionDenied,
                "the store is not encrypted; copy it into a new one to encrypt it"
            )
        case (_?, nil):
            throw StorageError(
                .permissionDenied,
                "the store is encrypted; set the configuration’s sealing"
            )
        case (_?, _?):
            guard try opens(proof) || opensDocument() else {
                throw StorageError(
                    .permissionDenied,
                    "the store is encrypted with another key; open it with that keyset"
                )
            }
        }
    }

    package func fingerprint(_ key: [UInt8], in index: [UInt8]) throws -> [UInt8] {
        guard let sealing else { return key }
        return try sealing.fingerprint(key, context: index)
    }

    private static func context(of path: DocumentPath) -> [UInt8] { Array(path.string.utf8) }
}
