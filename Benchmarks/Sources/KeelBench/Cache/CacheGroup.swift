/// The cache, compared with dictionaries, an actor, NSCache and SQLite.
///
/// Documentation/Benchmarks.md has the targets.
enum CacheGroup {
    @concurrent
    static func measures(_ options: Options) async throws -> [Measure] {
        let (keys, reads) = (options.isQuick ? 512 : 16_384, options.scaled(1_000_000))
        let numbers = Lazily { HitPair((0..<keys).map(Draws.number), reads: reads) }
        let texts = Lazily { HitPair((0..<keys).map(Draws.text), reads: reads) }
        return [
            numberHit(numbers),
            textHit(texts),
            twoThreads(numbers),
            twoThreads(texts),
            expiringHit(numbers),
            awaitedHit(numbers),
            awaitedByTwo(numbers),
            objectHit(texts),
            insertion(options),
            staleHit(options),
        ] + disk(options) + ratios(options)
    }
}
