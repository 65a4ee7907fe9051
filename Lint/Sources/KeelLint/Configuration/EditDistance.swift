/// The Levenshtein distance between two words, ignoring case.
enum EditDistance {
    static func between(_ left: String, _ right: String) -> Int {
        let right = Array(right.lowercased())
        var row = Array(0...right.count)
        for (line, character) in left.lowercased().enumerated() {
            var diagonal = row[0]
            row[0] = line + 1
            for column in right.indices {
                let above = row[column + 1]
                row[column + 1] = min(
                    diagonal + (character == right[column] ? 0 : 1),
                    above + 1,
                    row[column] + 1
                )
                diagonal = above
            }
        }
        return row[right.count]
    }
}
