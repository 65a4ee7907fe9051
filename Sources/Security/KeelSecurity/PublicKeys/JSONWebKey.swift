internal import KeelCore

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A key in JSON (RFC 7517), of the kinds OKP (RFC 8037) and EC (RFC 7518, section 6.2).
struct JSONWebKey: Codable {
    private var kty: String
    private var crv: String
    private var x: String
    private var y: String?
    private var d: String?

    init(okp curve: String, publicKey: Data, privateKey: Data? = nil) {
        kty = "OKP"
        crv = curve
        x = Self.text(publicKey)
        d = privateKey.map(Self.text)
    }

    init(p256 point: Data, privateKey: Data? = nil) {
        kty = "EC"
        crv = "P-256"
        x = Self.text(Data(point.dropFirst().prefix(32)))
        y = Self.text(Data(point.suffix(32)))
        d = privateKey.map(Self.text)
    }

    init?(_ text: String) {
        guard let key = try? JSONDecoder().decode(Self.self, from: Data(text.utf8)) else {
            return nil
        }
        self = key
    }

    /// Reads a public key, or returns nil for a private one and for a text that is not such a key.
    init?(publicText text: String) {
        self.init(text)
        guard d == nil else { return nil }
    }

    var text: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        // Strings only: no encoder can refuse them.
        return String(decoding: (try? encoder.encode(self)) ?? Data(), as: UTF8.self) + "\n"
    }

    func publicBytes(of curve: String) -> Data? {
        guard kty == "OKP", crv == curve else { return nil }
        return Self.bytes(x)
    }

    func privateBytes(of curve: String) -> Data? {
        guard kty == "OKP", crv == curve else { return nil }
        return d.flatMap(Self.bytes)
    }

    var p256Point: Data? {
        guard kty == "EC", crv == "P-256", let x = Self.bytes(x), let y = y.flatMap(Self.bytes)
        else { return nil }
        return Data([4]) + x + y
    }

    var p256PrivateBytes: Data? {
        guard kty == "EC", crv == "P-256" else { return nil }
        return d.flatMap(Self.bytes)
    }

    private static func text(_ bytes: Data) -> String { Base64.encodeForURL(Array(bytes)) }

    private static func bytes(_ text: String) -> Data? {
        Base64.decode(text).flatMap { $0.count == 32 ? Data($0) : nil }
    }
}
