internal import Synchronization

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// Random bits from the system, fetched several words at a time.
///
/// On Linux every word of `SystemRandomNumberGenerator` is a system call, which took a tenth of the
/// time of an event. The bits make ids unique and spread delays; they are not secrets.
final class RandomWords: Sendable {
    static let shared = RandomWords()

    private let words = Mutex<[UInt64]>([])

    func next() -> UInt64 {
        words.withLock { words in
            if let word = words.popLast() { return word }
            Self.fill(&words)
            return .random(in: .min ... .max)
        }
    }

    private static func fill(_ words: inout [UInt64]) {
        #if canImport(Glibc) || canImport(Musl)
        words.append(contentsOf: repeatElement(0, count: 32))
        // The maximum of one call, which fails only if the system has no randomness.
        let isFilled = words.withUnsafeMutableBytes { getentropy($0.baseAddress, $0.count) == 0 }
        if !isFilled { words.removeAll(keepingCapacity: true) }
        #endif
    }
}
