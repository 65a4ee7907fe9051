/// Suggestions for misspelled words.
package enum Spelling {
    /// The candidate with the fewest changes, nil where none is near.
    package static func nearest(to word: String, of candidates: [String]) -> String? {
        let measured = candidates.map { (name: $0, distance: distance(word, $0)) }
        guard let best = measured.min(by: { $0.distance < $1.distance }),
            best.distance <= max(1, word.count / 3)
        else { return nil }
        return best.name
    }

    /// How many letters have to be inserted, removed or replaced.
    static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first), Array(second))
        var row = Array(0...second.count)
        for (index, letter) in first.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for (column, other) in second.enumerated() {
                let replaced = diagonal + (letter == other ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(replaced, diagonal + 1, row[column] + 1)
            }
        }
        return row[second.count]
    }
}
