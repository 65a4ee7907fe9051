/// The names of the files in the folder of a disk tier; anything else in it is left alone.
struct FolderNames: Hashable, Sendable {
    /// The folder.
    let folder: String

    /// What a file is, by its name.
    enum Role: Hashable, Sendable {
        /// A segment with this number.
        case segment(UInt32)
        /// A large value with this number.
        case value(UInt64)
        /// Something that was never finished.
        case unfinished
    }

    /// The file whose lock keeps others out.
    var lock: String { folder + "/cache.lock" }
    /// The last snapshot of the index.
    var snapshot: String { folder + "/index.snapshot" }
    /// A snapshot on its way.
    var newSnapshot: String { folder + "/index.part" }

    /// The file of a segment.
    func segment(_ number: UInt32) -> String { folder + "/" + hex(UInt64(number), 8) + ".segment" }

    /// The file of a large value.
    func value(_ id: UInt64) -> String { folder + "/" + hex(id, 16) + ".value" }

    /// The file of a large value on its way.
    func unfinishedValue(_ id: UInt64) -> String { folder + "/" + hex(id, 16) + ".part" }

    /// What a name stands for, nil for what is not the tier's.
    static func role(of name: String) -> Role? {
        if name == "index.part" { return .unfinished }
        guard let dot = name.lastIndex(of: "."), name[..<dot].utf8.allSatisfy(isHex) else {
            return nil
        }
        let digits = name[..<dot]
        switch (name[dot...], digits.utf8.count) {
        case (".segment", 8):
            // Numbers near the end are nobody's, and there has to be a next one.
            return UInt32(digits, radix: 16).flatMap { $0 < 0xF000_0000 ? .segment($0) : nil }
        case (".value", 16): return UInt64(digits, radix: 16).map { .value($0) }
        case (".part", 16): return .unfinished
        default: return nil
        }
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
    }

    private func hex(_ number: UInt64, _ count: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}
