import Yams

struct ConfigurationReader {
    let file: String
    var problems: [String] = []
    var configuration: LintConfiguration

    /// Reads a configuration; the error has all problems, or the first one of the YAML.
    static func read(_ text: String, file: String) throws(ConfigurationError) -> LintConfiguration {
        var reader = ConfigurationReader(file: file)
        do {
            if let root = try Yams.compose(yaml: text) {
                reader.readRoot(root)
            } else {
                reader.problems.append("\(file):1:1: The file is empty. Run `keel-lint init`.")
            }
        } catch let error as YamlError {
            reader.problems.append("\(file): Invalid YAML: \(error)")
        } catch {
            reader.problems.append("\(file): \(error)")
        }
        guard reader.problems.isEmpty else { throw ConfigurationError(reader.problems) }
        return reader.configuration
    }

    private init(file: String) {
        self.file = file
        configuration = LintConfiguration(file: file)
    }

    // MARK: Root

    private mutating func readRoot(_ root: Node) {
        let keys = [
            "version", "profiles", "exclude", "packages", "layers", "contracts", "rules", "naming",
            "transfer-objects", "baseline", "max-file-megabytes", "check-generated",
        ]
        guard let fields = fields(root, keys, in: "the configuration") else { return }
        if let node = fields["version"], node.int != 1 {
            problem(node, "The version of the configuration must be 1: write `version: 1`.")
        }
        if let node = fields["packages"] { configuration.packages = globs(node) }
        if let node = fields["exclude"] { configuration.exclude = globs(node) }
        if let node = fields["transfer-objects"] { configuration.transferObjects = globs(node) }
        if let node = fields["profiles"] { readProfiles(node) }
        if let node = fields["baseline"] { configuration.baseline = text(node) }
        if let node = fields["max-file-megabytes"] {
            if let megabytes = node.int, (1...1024).contains(megabytes) {
                configuration.byteLimit = megabytes << 20
            } else {
                problem(node, "`max-file-megabytes` must be a number from 1 to 1024.")
            }
        }
        if let node = fields["check-generated"] {
            configuration.checksGenerated = bool(node) ?? false
        }
        if let node = fields["layers"] { for node in items(node) { readLayer(node) } }
        checkLayers()
        if let node = fields["contracts"] { for node in items(node) { readContract(node) } }
        if let node = fields["rules"] { readRules(node) }
        if let node = fields["naming"] { for node in items(node) { readNaming(node) } }
    }

    private mutating func readProfiles(_ node: Node) {
        for name in texts(node) {
            guard let profile = LintProfile(rawValue: name) else {
                unknown(node, "profile", name, LintProfile.allCases.map(\.rawValue))
                continue
            }
            guard configuration.profiles.insert(profile).inserted else { continue }
            configuration.naming += profile.naming
            configuration.transferObjects += profile.transferObjects
        }
    }

    // MARK: Layers

    private var layerNodes: [(name: String, node: Node, uses: Node?)] = []

    private mutating func readLayer(_ node: Node) {
        let keys = ["name", "role", "targets", "paths", "uses", "modules"]
        guard let fields = fields(node, keys, in: "a layer") else { return }
        guard let name = fields["name"].flatMap({ text($0) }) else {
            return problem(node, "A layer needs a `name`.")
        }
        var layer = Layer(name: name, role: LayerRole.named(name))
        layer.line = line(node)
        if let node = fields["role"], let role = text(node) {
            if role == "none" {
                layer.role = nil
            } else if let role = LayerRole(rawValue: role) {
                layer.role = role
            } else {
                unknown(node, "role", role, LayerRole.allCases.map(\.rawValue) + ["none"])
            }
        }
        if let node = fields["targets"] { layer.targets = globs(node) }
        if let node = fields["paths"] { layer.paths = globs(node) }
        if layer.targets.isEmpty, layer.paths.isEmpty {
            problem(
                node,
                "The layer `\(name)` needs `targets` or `paths`, which determine its files."
            )
        }
        if let node = fields["uses"] {
            let names = texts(node)
            layer.uses = names.contains("any") ? nil : Set(names)
        } else if layer.role == .composition {
            layer.uses = nil
        }
        if let node = fields["modules"] { layer.modules = globs(node) }
        layerNodes.append((name, node, fields["uses"]))
        configuration.layers.append(layer)
    }

    private mutating func checkLayers() {
        let names = layerNodes.map(\.name)
        for (position, layer) in layerNodes.enumerated() {
            if names[..<position].contains(layer.name) {
                problem(layer.node, "There are two layers called `\(layer.name)`.")
            }
            guard let uses = layer.uses else { continue }
            for name in texts(uses) where name != "any" && !names.contains(name) {
                unknown(uses, "layer", name, names)
            }
        }
    }

    // MARK: Rules

    private mutating func readRules(_ node: Node) {
        guard let mapping = node.mapping else {
            return problem(
                node,
                "`rules` must map rule ids to `off`, `on`, `warning`, `error` or settings."
            )
        }
        for (key, value) in mapping {
            guard let id = text(key) else { continue }
            guard BuiltInRules.named(id) != nil else {
                unknown(key, "rule", id, BuiltInRules.all.map(\.id))
                continue
            }
            configuration.rules[id] = ruleSetting(value, id)
        }
    }

    private mutating func ruleSetting(_ node: Node, _ id: String) -> RuleSetting {
        var setting = RuleSetting()
        if node.mapping == nil {
            switch node.scalar?.string {
            case "off", "false": setting.isOn = false
            case "on", "true": setting.isOn = true
            case "warning":
                setting.isOn = true
                setting.severity = .warning
            case "error":
                setting.isOn = true
                setting.severity = .error
            default:
                problem(
                    node,
                    "`\(id)` must be `off`, `on`, `warning` or `error`, or have settings below it."
                )
            }
            return setting
        }
        var keys = ["severity", "layers", "allow", "also"]
        if id == "layers" { keys = ["severity", "transitive"] }
        guard let fields = fields(node, keys, in: "a rule") else { return setting }
        setting.isOn = true
        if let node = fields["severity"], let word = text(node) {
            setting.severity = Severity(rawValue: word)
            if setting.severity == nil { unknown(node, "severity", word, ["error", "warning"]) }
        }
        if let node = fields["transitive"] { setting.isTransitive = bool(node) ?? true }
        if let node = fields["layers"] {
            let names = texts(node)
            for name in names where !configuration.layers.contains(where: { $0.name == name }) {
                unknown(node, "layer", name, configuration.layers.map(\.name))
            }
            setting.layers = names
        }
        if let node = fields["allow"] { setting.allow = globs(node) }
        if let node = fields["also"] { setting.also = globs(node) }
        return setting
    }

    private mutating func readNaming(_ node: Node) {
        let keys = ["types", "files", "kinds", "roles", "named", "file-named", "in", "because"]
        guard let fields = fields(node, keys, in: "a naming rule") else { return }
        var rule = NamingRule()
        rule.line = line(node)
        if let node = fields["types"] { rule.types = globs(node) }
        if let node = fields["files"] { rule.files = globs(node) }
        if rule.types.isEmpty == rule.files.isEmpty {
            problem(node, "A naming rule must have either `types` or `files`.")
        }
        if let node = fields["kinds"] {
            for word in texts(node) {
                if let kind = DeclarationFact.Kind.allCases.first(where: {
                    $0.word == word && $0.isType
                }) {
                    rule.kinds.insert(kind)
                } else {
                    unknown(
                        node,
                        "kind",
                        word,
                        ["struct", "class", "enum", "actor", "protocol", "typealias"]
                    )
                }
            }
        }
        if let node = fields["roles"] {
            for word in texts(node) {
                if let role = LayerRole(rawValue: word) {
                    rule.roles.insert(role)
                } else {
                    unknown(node, "role", word, LayerRole.allCases.map(\.rawValue))
                }
            }
        }
        if let node = fields["named"] {
            rule.named = globs(node)
            if rule.types.isEmpty, !rule.files.isEmpty {
                problem(node, "`named` is for `types`; a rule about `files` has `file-named`.")
            }
        }
        if let node = fields["file-named"] { rule.fileNamed = texts(node) }
        if let node = fields["in"] { rule.placedIn = globs(node) }
        if rule.named.isEmpty, rule.fileNamed.isEmpty, rule.placedIn.isEmpty {
            problem(node, "A naming rule must have a requirement: `named`, `file-named` or `in`.")
        }
        rule.because = fields["because"].flatMap { text($0) } ?? ""
        configuration.naming.append(rule)
    }
}
