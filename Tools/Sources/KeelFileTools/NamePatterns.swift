/// Patterns that choose files of a folder.
///
/// In a pattern, `?` matches one character of a name, `*` any number, and `**` also `/`. A pattern that begins with `/`
/// is matched from the top of the folder, any other from any subfolder as well. One that ends with `/` matches all
/// files of a folder.
package struct NamePatterns: Sendable {
    private let include: [NamePattern]
    private let exclude: [NamePattern]

    /// Creates patterns of the files to choose, with none all files, and of those to leave out.
    package init(include: [String] = [], exclude: [String] = []) {
        self.include = include.map(NamePattern.init)
        self.exclude = exclude.map(NamePattern.init)
    }

    /// Returns whether a file, by its path below the folder, is included and not excluded.
    package func chooses(_ names: String) -> Bool {
        (include.isEmpty || include.contains { $0.matches(names) })
            && !exclude.contains { $0.matches(names) }
    }

    /// Returns whether one pattern, such as `cache/`, excludes all files of a folder and of its subfolders.
    ///
    /// The path of the folder has a final `/`.
    package func excludesAll(of folder: String) -> Bool {
        exclude.contains { $0.matchesAllBelow && $0.matches(folder) }
    }
}

private struct NamePattern: Sendable {
    private enum Piece: Hashable, Sendable {
        case one
        case name
        case path
        case scalar(Unicode.Scalar)
    }

    private let pieces: [Piece]
    private let isAnchored: Bool

    init(_ text: String) {
        isAnchored = text.hasPrefix("/")
        var pieces: [Piece] = []
        for scalar in text.unicodeScalars.drop(while: { $0 == "/" }) {
            switch scalar {
            case "?": pieces.append(.one)
            case "*" where pieces.last == .name: pieces[pieces.count - 1] = .path
            case "*" where pieces.last == .path: break
            case "*": pieces.append(.name)
            default: pieces.append(.scalar(scalar))
            }
        }
        if pieces.last == .scalar("/") { pieces.append(.path) }
        self.pieces = pieces
    }

    /// Whether every path that continues a matching one matches, too.
    var matchesAllBelow: Bool { pieces.last == .path }

    func matches(_ names: String) -> Bool {
        let scalars = Array(names.unicodeScalars)
        if matches(scalars[...]) { return true }
        guard !isAnchored else { return false }
        return scalars.indices.contains { scalars[$0] == "/" && matches(scalars[($0 + 1)...]) }
    }

    /// Tracks the positions that the pattern can have reached, in time proportional to the product of both lengths.
    private func matches(_ scalars: ArraySlice<Unicode.Scalar>) -> Bool {
        var reached = [Bool](repeating: false, count: pieces.count + 1)
        reached[0] = true
        skip(&reached)
        for scalar in scalars {
            var next = [Bool](repeating: false, count: pieces.count + 1)
            for (index, piece) in pieces.enumerated() where reached[index] {
                switch piece {
                case .one: if scalar != "/" { next[index + 1] = true }
                case .name: if scalar != "/" { next[index] = true }
                case .path: next[index] = true
                case .scalar(let own): if own == scalar { next[index + 1] = true }
                }
            }
            skip(&next)
            reached = next
        }
        return reached[pieces.count]
    }

    /// Adds the positions after stars, which may match nothing.
    private func skip(_ reached: inout [Bool]) {
        for (index, piece) in pieces.enumerated() where reached[index] {
            if piece == .name || piece == .path { reached[index + 1] = true }
        }
    }
}
