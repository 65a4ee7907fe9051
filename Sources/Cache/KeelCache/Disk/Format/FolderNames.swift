internal import KeelCore

/// The names of the files in a tier's folder; other files in it are left alone.
struct FolderNames: Hashable, Sendable {
    let folder: String

    enum Role: Hashable, Sendable {
        case segment(UInt32)
        case value(UInt64)
        /// A file that was never completed.
        case unfinished
    }

    var lock: String { folder + "/cache.lock" }
    var snapshot: String { folder + "/index.snapshot" }
    var newSnapshot: String { folder + "/index.part" }

    func segment(_ number: UInt32) -> String { path(number, 8, ".segment") }

    func value(_ id: UInt64) -> String { path(id, 16, ".value") }

    func unfinishedValue(_ id: UInt64) -> String { path(id, 16, ".part") }

    private func path(_ number: some UnsignedInteger, _ digits: Int, _ suffix: String) -> String {
        folder + "/" + number.digits(digits, radix: 16) + suffix
    }

    static func role(of name: String) -> Role? {
        if name == "index.part" { return .unfinished }
        guard let dot = name.lastIndex(of: "."), name[..<dot].utf8.allSatisfy(isHex) else {
            return nil
        }
        let digits = name[..<dot]
        switch (name[dot...], digits.utf8.count) {
        case (".segment", 8):
            // Higher numbers are never used, so that a next number always exists.
            return UInt32(digits, radix: 16).flatMap { $0 < 0xF000_0000 ? .segment($0) : nil }
        case (".value", 16): return UInt64(digits, radix: 16).map { .value($0) }
        case (".part", 16): return .unfinished
        default: return nil
        }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }
}
