internal import Foundation
internal import KeelCore
internal import Synchronization

/// A sealing that opens everything except the bytes of one context, such as a document's path.
package final class RefusingByteSealing: ByteSealing {
    private let base = FakeByteSealing(key: 42)
    private let refused = Mutex<String?>(nil)

    package init() {}

    /// Refuses to open the bytes of a context; nil refuses none.
    package func refuse(_ context: String?) { refused.withLock { $0 = context } }

    package func seal(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
        try base.seal(plain, context: context)
    }

    package func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8] {
        if let refused = refused.withLock({ $0 }), Array(refused.utf8) == context {
            throw CocoaError(.fileReadCorruptFile)
        }
        return try base.open(sealed, context: context)
    }

    package func fingerprint(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
        try base.fingerprint(plain, context: context)
    }
}
