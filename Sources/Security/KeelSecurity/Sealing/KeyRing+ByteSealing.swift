#if Crypto
internal import Crypto
public import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Encryption at rest for storage, caches and journals: pass the ring as `sealing` in their configuration.
///
/// The context is the associated data. Fingerprints use a dedicated key that survives every rotation, so they do not
/// change with it.
extension KeyRing: ByteSealing {
    public func seal(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
        [UInt8](try encrypt(plain, associatedData: context))
    }

    public func open(_ sealed: [UInt8], context: [UInt8]) throws -> [UInt8] {
        [UInt8](try decrypt(Data(sealed), associatedData: context))
    }

    public func fingerprint(_ plain: [UInt8], context: [UInt8]) throws -> [UInt8] {
        var code = HMAC<SHA256>(key: fingerprintKey)
        // The length prefix keeps the boundary between context and value unambiguous.
        withUnsafeBytes(of: UInt64(context.count).littleEndian) { code.update(data: $0) }
        code.update(data: context)
        code.update(data: plain)
        return [UInt8](code.finalize())
    }
}
#endif
