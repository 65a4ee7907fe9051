#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The text form of a password hash: `$function$v=19$name=value,…$salt$hash`.
struct PHCString {
    var function: String
    var version: Int?
    var parameters: [(name: String, value: Int)]
    var salt: [UInt8]
    var hash: [UInt8]
}

extension PHCString {
    init?(_ text: String) {
        guard text.utf8.count <= 1024 else { return nil }
        var parts = text.split(separator: "$", omittingEmptySubsequences: false)[...]
        guard parts.popFirst() == "", let function = parts.popFirst(), !function.isEmpty else {
            return nil
        }
        self.function = String(function)
        if let part = parts.first, part.hasPrefix("v=") {
            guard let version = Self.number(part.dropFirst(2)) else { return nil }
            self.version = version
            parts = parts.dropFirst()
        }
        guard parts.count == 3, let list = parts.popFirst(), let salt = parts.popFirst(),
            let hash = parts.popFirst(), let salt = Self.bytes(salt), let hash = Self.bytes(hash)
        else { return nil }
        self.salt = salt
        self.hash = hash
        parameters = []
        for pair in list.split(separator: ",", omittingEmptySubsequences: false) {
            let sides = pair.split(separator: "=", omittingEmptySubsequences: false)
            guard sides.count == 2, let value = Self.number(sides[1]) else { return nil }
            parameters.append((String(sides[0]), value))
        }
    }

    var text: String {
        let version = version.map { "v=\($0)$" } ?? ""
        let list = parameters.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
        return "$\(function)$\(version)\(list)$\(Self.text(salt))$\(Self.text(hash))"
    }

    /// Returns the values of exactly these parameters, in order, or nil if the hash has others or lacks one.
    func values(_ names: String...) -> [Int]? {
        guard parameters.map(\.name) == names else { return nil }
        return parameters.map(\.value)
    }

    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            text.count <= 10
        else { return nil }
        return Int(text)
    }

    private static func text(_ bytes: [UInt8]) -> String {
        let padded = Data(bytes).base64EncodedString()
        return String(padded.prefix { $0 != "=" })
    }

    private static func bytes(_ text: Substring) -> [UInt8]? {
        guard !text.contains("=") else { return nil }
        let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
        guard let data = Data(base64Encoded: text + padding) else { return nil }
        let bytes = [UInt8](data)
        // Unused trailing bits must be zero, so that a hash has exactly one text.
        return Self.text(bytes) == text ? bytes : nil
    }
}
