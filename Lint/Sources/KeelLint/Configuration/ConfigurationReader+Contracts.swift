import Yams

extension ConfigurationReader {
    mutating func readContract(_ node: Node) {
        let keys = [
            "name", "type", "from", "to", "modules", "only-from", "members", "between",
            "transitive",
            "because",
        ]
        guard let fields = fields(node, keys, in: "a contract") else { return }
        guard let name = fields["name"].flatMap({ text($0) }) else {
            return problem(node, "A contract needs a `name`, which findings and allows refer to.")
        }
        if BuiltInRules.named(name) != nil
            || configuration.contracts.contains(where: { $0.name == name })
            || name == "layers"
        {
            problem(node, "The name `\(name)` is already used; give the contract another one.")
        }
        guard let type = fields["type"].flatMap({ text($0) }) else {
            return problem(node, "The contract `\(name)` needs a `type`.")
        }
        let allowed: [String: [String]] = [
            "forbidden": ["from", "to"], "protected": ["modules", "only-from"],
            "independent": ["members"], "acyclic": ["between"],
        ]
        guard let needed = allowed[type] else {
            return unknown(
                fields["type"] ?? node,
                "contract type",
                type,
                allowed.keys.sorted()
            )
        }
        for key in ["from", "to", "modules", "only-from", "members", "between"] {
            if needed.contains(key), fields[key] == nil {
                problem(node, "The contract `\(name)` of type \(type) needs `\(key)`.")
            } else if !needed.contains(key), let extra = fields[key] {
                problem(
                    extra,
                    """
                    A contract of type \(type) has no `\(key)`; it has: \
                    \(needed.joined(separator: ", ")).
                    """
                )
            }
        }
        func selected(_ key: String) -> [Selector] { fields[key].map { selectors($0) } ?? [] }
        let kind: Contract.Kind? =
            switch type {
            case "forbidden": .forbidden(from: selected("from"), to: selected("to"))
            case "protected": .protected(selected("modules"), onlyFrom: selected("only-from"))
            case "independent": .independent(selected("members"))
            default: fields["between"].map { .acyclic(scope($0)) }
            }
        guard let kind else { return }
        var contract = Contract(name: name, kind: kind)
        contract.line = line(node)
        contract.because = fields["because"].flatMap { text($0) }
        // The permitted users of a protected module are themselves used by others.
        contract.isTransitive =
            fields["transitive"].flatMap { bool($0) } ?? (type != "protected")
        configuration.contracts.append(contract)
    }

    mutating func selectors(_ node: Node) -> [Selector] {
        let found = list(node).compactMap { node in
            text(node).map { Selector($0, line: line(node)) }
        }
        if found.isEmpty { problem(node, "This list is empty.") }
        return found
    }

    mutating func scope(_ node: Node) -> Contract.Scope {
        guard node.sequence == nil, let word = text(node) else { return .members(selectors(node)) }
        switch word {
        case "layers": return .layers
        case "targets": return .targets
        default:
            guard word.hasPrefix("folders in ") else {
                problem(
                    node,
                    "`between` must be `layers`, `targets`, `folders in <path>`, or a list of members."
                )
                return .targets
            }
            // Paths of files begin with no `./`.
            var folder = word.dropFirst("folders in ".count)
            while folder.hasPrefix("./") { folder = folder.dropFirst(2) }
            while folder.hasSuffix("/") { folder = folder.dropLast() }
            return .folders(String(folder))
        }
    }
}
