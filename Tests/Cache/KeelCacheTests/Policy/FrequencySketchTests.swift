import KeelCache
import KeelTestKit
import Testing

@Suite("Frequency sketch")
struct FrequencySketchTests {
    @Test("A key's count is never too low, and rarely too high")
    func counts() {
        var sketch = FrequencySketch()
        sketch.grow(toHold: 1000)
        var random = SeededRandom(seed: 1)
        let keys = (0..<1000).map {
            (hash: UInt32(truncatingIfNeeded: random.next()), uses: $0 % 8)
        }
        for key in keys {
            for _ in 0..<key.uses { sketch.increment(key.hash, period: .max) }
        }
        #expect(keys.allSatisfy { sketch.frequency($0.hash) >= $0.uses })
        let wrong = keys.count { sketch.frequency($0.hash) > $0.uses }
        #expect(wrong < 50, "\(wrong) of 1000 are too high")
    }

    @Test("A counter stops at its maximum")
    func saturates() {
        var sketch = FrequencySketch()
        for _ in 0..<100 { sketch.increment(7, period: .max) }
        #expect(sketch.frequency(7) == FrequencySketch.maximum)
    }

    @Test("Counts are halved after each period")
    func ages() {
        var sketch = FrequencySketch()
        sketch.grow(toHold: 1000)
        for _ in 0..<10 { sketch.increment(7, period: 1000) }
        for hash in UInt32(100)..<1090 { sketch.increment(hash &* 0x9E37_79B9, period: 1000) }
        #expect((5...6).contains(sketch.frequency(7)))
    }

    @Test("Growing loses no counts")
    func grows() {
        var sketch = FrequencySketch()
        var random = SeededRandom(seed: 2)
        let hashes = (0..<20).map { _ in UInt32(truncatingIfNeeded: random.next()) }
        for hash in hashes {
            for _ in 0..<3 { sketch.increment(hash, period: .max) }
        }
        sketch.grow(toHold: 100_000)
        #expect(hashes.allSatisfy { sketch.frequency($0) >= 3 })
        #expect(sketch.frequency(UInt32(truncatingIfNeeded: random.next())) <= 3)
    }
}
