internal import KeelCore

/// The counts of a pass that reseals the contents of a store.
///
/// Documents, their past states and the receipts of batches count as one item each.
public struct ResealReport: Hashable, Sendable {
    /// The number of items that were resealed; the others were under the current key already.
    public package(set) var resealed = 0
    /// The number of items that no key opens, which are left as they are.
    public package(set) var unreadable = 0

    /// Creates an empty report.
    public init() {}
}

extension BodySealing {
    package static let itemsPerReseal = 500
    package static let bytesPerReseal = 4 << 20

    /// - Throws: `StorageError/Code/invalidArgument` for a store without a key.
    package func checkIsSealed() throws(StorageError) {
        guard sealing == nil else { return }
        throw StorageError(
            .invalidArgument,
            "the store is not encrypted; there is nothing to reseal"
        )
    }

    /// Seals an item with the present key, and counts it.
    ///
    /// - Parameters:
    ///   - bytes: The item as stored.
    ///   - context: The context that it is bound to: for a document or its past state, the path.
    ///   - report: The report that counts the item.
    ///   - opensProof: Returns whether the store's key is available. Without the key, no item can be opened.
    /// - Returns: The sealed item; nil if it stays as it is.
    /// - Throws: `StorageError/Code/permissionDenied` if the key is not available or cannot seal, and the errors of the
    ///   closure.
    package func reseal(
        _ bytes: [UInt8],
        as context: String,
        counting report: inout ResealReport,
        opensProof: () throws -> Bool
    ) throws -> [UInt8]? {
        guard let sealing else { return nil }
        do {
            guard let new = try sealing.reseal(bytes, context: Array(context.utf8)) else {
                return nil
            }
            report.resealed += 1
            return new
        } catch {
            guard (try? open(bytes, as: context)) == nil, try opensProof() else {
                throw StorageError(
                    .permissionDenied,
                    "the contents of the store cannot be resealed with the store’s key",
                    cause: error
                )
            }
            report.unreadable += 1
            return nil
        }
    }
}
