enum Words {
    static func word(_ bytes: [UInt8], at start: Int) -> UInt64 {
        var word: UInt64 = 0
        for index in (start..<start + 8).reversed() { word = word << 8 | UInt64(bytes[index]) }
        return word
    }

    static func bytes(of words: some Sequence<UInt64>) -> [UInt8] {
        var bytes: [UInt8] = []
        for word in words {
            withUnsafeBytes(of: word.littleEndian) { bytes.append(contentsOf: $0) }
        }
        return bytes
    }

    static func bytes(of number: UInt32) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}
