import Yams

extension ConfigurationReader {
    func line(_ node: Node) -> Int { node.mark?.line ?? 1 }

    mutating func problem(_ node: Node, _ text: String) {
        problems.append("\(file):\(node.mark?.line ?? 1):\(node.mark?.column ?? 1): \(text)")
    }

    mutating func unknown(
        _ node: Node,
        _ what: String,
        _ word: String,
        _ known: [String]
    ) {
        let near = known.min { EditDistance.between($0, word) < EditDistance.between($1, word) }
        let hint =
            near.map {
                EditDistance.between($0, word) <= max(2, word.count / 3)
                    ? " Did you mean `\($0)`?" : ""
            }
            ?? ""
        let list = known.isEmpty ? "" : " There is: \(known.joined(separator: ", "))."
        problem(node, "There is no \(what) `\(word)`.\(hint)\(list)")
    }

    /// Returns the values of a mapping; each unknown key is a problem.
    mutating func fields(_ node: Node, _ keys: [String], in what: String) -> [String:
        Node]?
    {
        guard let mapping = node.mapping else {
            problem(node, "Expected \(what) with keys, such as `\(keys[0]): …`.")
            return nil
        }
        var fields: [String: Node] = [:]
        for (key, value) in mapping {
            guard let word = key.string else { continue }
            if keys.contains(word) {
                fields[word] = value
            } else {
                unknown(key, "key", word, keys)
            }
        }
        return fields
    }

    mutating func text(_ node: Node) -> String? {
        guard let text = node.scalar?.string, !text.isEmpty else {
            problem(node, "Expected a word.")
            return nil
        }
        return text
    }

    mutating func bool(_ node: Node) -> Bool? {
        if let value = node.bool { return value }
        problem(node, "Expected `true` or `false`.")
        return nil
    }

    mutating func items(_ node: Node) -> [Node] {
        if let sequence = node.sequence { return Array(sequence) }
        problem(node, "Expected a list, each item of which begins with `- `.")
        return []
    }

    func list(_ node: Node) -> [Node] { node.sequence.map { Array($0) } ?? [node] }

    mutating func texts(_ node: Node) -> [String] { list(node).compactMap { text($0) } }

    mutating func globs(_ node: Node) -> [Glob] { texts(node).map { Glob($0) } }
}
