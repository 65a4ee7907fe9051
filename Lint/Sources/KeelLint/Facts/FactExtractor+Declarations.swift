@_spi(RawSyntax) import SwiftSyntax

extension FactExtractor {
    // MARK: Types

    mutating func readTypeDeclaration(_ node: RawSyntax, _ view: RawSyntaxLayoutView) {
        let generics = genericNames.count
        defer { genericNames.removeSubrange(generics...) }
        let name: SyntaxText
        if let extended = RawExtensionDeclSyntax(node)?.extendedType.raw {
            name = Self.trimmedText(of: extended)
        } else {
            name = nameToken(of: view)?.rawText ?? SyntaxText()
        }
        inside(kind(of: node), name, view) { extractor in
            for case let child? in view.children {
                switch child.kind {
                case .inheritanceClause:
                    extractor.within(.inheritance) { $0.walk(child) }
                case .identifierType, .memberType:
                    extractor.within(.extended) { $0.walk(child) }
                case .genericParameterClause: extractor.readGenerics(child)
                default: extractor.within(.signature) { $0.walk(child) }
                }
            }
        }
    }

    private func kind(of node: RawSyntax) -> DeclarationFact.Kind {
        switch node.kind {
        case .structDecl: .struct
        case .classDecl: .class
        case .enumDecl: .enum
        case .actorDecl: .actor
        case .protocolDecl: .protocol
        case .extensionDecl: .extension
        case .functionDecl: .function
        case .initializerDecl: .initializer
        case .subscriptDecl: .subscript
        default: .other
        }
    }

    mutating func readAlias(_ node: RawSyntax, _ view: RawSyntaxLayoutView) {
        let generics = genericNames.count
        defer { genericNames.removeSubrange(generics...) }
        let name = nameToken(of: view)?.rawText ?? SyntaxText()
        // An associated type is a name within its protocol, like a nested type.
        inside(.typealias, name, view) { extractor in
            for case let child? in view.children {
                switch child.kind {
                case .genericParameterClause: extractor.readGenerics(child)
                case .typeInitializerClause: extractor.within(.alias) { $0.walk(child) }
                default: extractor.within(.signature) { $0.walk(child) }
                }
            }
        }
    }

    private mutating func readGenerics(_ clause: RawSyntax) {
        func search(_ node: RawSyntax) {
            guard let children = node.layoutView?.children else { return }
            if let parameter = RawGenericParameterSyntax(node) {
                genericNames.append(parameter.name.tokenText)
            }
            for case let child? in children { search(child) }
        }
        search(clause)
        within(.signature) { $0.walk(clause) }
    }

    // MARK: Functions

    mutating func readCallable(_ node: RawSyntax, _ view: RawSyntaxLayoutView) {
        let generics = genericNames.count
        let catches = catchDepth
        catchDepth = 0
        defer {
            genericNames.removeSubrange(generics...)
            catchDepth = catches
        }
        let name: SyntaxText =
            switch node.kind {
            case .initializerDecl: "init"
            case .subscriptDecl: "subscript"
            case .deinitializerDecl: "deinit"
            default: nameToken(of: view)?.rawText ?? SyntaxText()
            }
        let signature =
            RawFunctionDeclSyntax(node)?.signature ?? RawInitializerDeclSyntax(node)?.signature
        inside(kind(of: node), name, view, traits: throwing(signature)) { extractor in
            for case let child? in view.children where child.kind == .genericParameterClause {
                extractor.readGenerics(child)
            }
            if let parameters = signature?.parameterClause.parameters.raw.layoutView {
                extractor.readParameterTypes(parameters)
            }
            for case let child? in view.children where child.kind != .genericParameterClause {
                if let value = Self.returnedTry(child, signature) {
                    extractor.within(.body) { $0.walk(value) }
                } else {
                    extractor.within(.signature) { $0.walk(child) }
                }
            }
        }
    }

    private func throwing(_ signature: RawFunctionSignatureSyntax?) -> DeclarationFact.Traits {
        guard let clause = signature?.effectSpecifiers?.throwsClause else { return [] }
        return clause.type == nil ? .throwsAnything : .throwsTyped
    }

    /// The `try` that is a function's whole body and, without `return`, its result.
    private static func returnedTry(
        _ body: RawSyntax,
        _ signature: RawFunctionSignatureSyntax?
    ) -> RawSyntax? {
        body.kind == .codeBlock && isValue(signature?.returnClause) ? onlyTry(in: body) : nil
    }

    private static func isValue(_ result: RawReturnClauseSyntax?) -> Bool {
        guard let type = result.map({ trimmedText(of: $0.type.raw) }) else { return false }
        return type != "Void" && type != "()"
    }

    private static func onlyTry(in block: RawSyntax) -> RawSyntax? {
        guard let list = parts(of: block).first(where: { $0.kind == .codeBlockItemList }) else {
            return nil
        }
        let items = parts(of: list)
        guard items.count == 1 else { return nil }
        return parts(of: items[0]).first { $0.kind == .tryExpr }
    }

    /// The `try` that is all of a getter, or of a closure with a declared result or an argument of `map` or the like.
    mutating func usedTry(in block: RawSyntax, _ kind: SyntaxKind) -> RawSyntax? {
        switch kind {
        case .accessorBlock: return Self.onlyTry(in: block)
        case .closureExpr:
            let isUsed = usesClosure
            usesClosure = false
            let result = RawClosureExprSyntax(block)?.signature?.returnClause
            return isUsed || Self.isValue(result) ? Self.onlyTry(in: block) : nil
        default: return nil
        }
    }

    mutating func readAccessor(_ node: RawSyntax, _ view: RawSyntaxLayoutView) {
        let isGetter = RawAccessorDeclSyntax(node)?.accessorSpecifier.tokenText == "get"
        for case let child? in view.children {
            if isGetter, child.kind == .codeBlock, let value = Self.onlyTry(in: child) {
                walk(value)
            } else {
                walk(child)
            }
        }
    }

    private mutating func readParameterTypes(_ parameters: RawSyntaxLayoutView) {
        for case let child? in parameters.children {
            guard let parameter = RawFunctionParameterSyntax(child) else { continue }
            let name = parameter.secondName ?? parameter.firstName
            // A parameter without a type name still shadows other names.
            localTypes.append(
                (name.tokenText, nameOfType(parameter.type.raw) ?? SyntaxText())
            )
        }
    }

    // MARK: Variables

    mutating func readVariable(_ node: RawSyntax, _ view: RawSyntaxLayoutView) {
        guard let variable = RawVariableDeclSyntax(node) else { return walkChildren(view) }
        let isMember = context != .body || declaration < 0
        for case let child? in view.children where child.kind != .patternBindingList {
            walk(child)
        }
        for child in Self.parts(of: variable.bindings.raw) {
            guard let binding = RawPatternBindingSyntax(child) else { continue }
            guard isMember, let name = RawIdentifierPatternSyntax(binding.pattern.raw)?.identifier
            else {
                readLocalType(binding.pattern.raw, binding.typeAnnotation)
                walk(child)
                continue
            }
            let isStored = binding.accessorBlock.map { observes($0.raw) } ?? true
            var traits: DeclarationFact.Traits = isStored ? .isStored : []
            if variable.attributes.raw.byteLength > 0 { traits.insert(.hasAttributes) }
            inside(.variable, name.tokenText, view, traits: traits) {
                if let annotation = binding.typeAnnotation?.raw {
                    $0.within(isStored ? .storage : .signature) { $0.walk(annotation) }
                }
                if let value = binding.initializer?.raw { $0.walk(value) }
                if let accessors = binding.accessorBlock?.raw { $0.walk(accessors) }
            }
        }
    }

    /// Whether a block contains `willSet` or `didSet`, which makes the property stored.
    private func observes(_ block: RawSyntax) -> Bool {
        guard let children = block.layoutView?.children else { return false }
        for case let child? in children {
            if let accessor = RawAccessorDeclSyntax(child) {
                let specifier = accessor.accessorSpecifier.tokenText
                return specifier == "willSet" || specifier == "didSet"
            }
            if child.kind == .accessorDeclList { return observes(child) }
        }
        return false
    }

    mutating func readCase(_ node: RawSyntax, _ view: RawSyntaxLayoutView) {
        guard let element = RawEnumCaseElementSyntax(node) else { return }
        inside(.enumCase, element.name.tokenText, nil) { extractor in
            if let parameters = element.parameterClause?.raw {
                extractor.within(.storage) { $0.walk(parameters) }
            }
            if let value = element.rawValue?.raw { extractor.walk(value) }
        }
    }

    // MARK: Parts

    private func nameToken(of view: RawSyntaxLayoutView) -> RawSyntaxTokenView? {
        for case let child? in view.children {
            guard let token = child.tokenView, token.presence == .present else { continue }
            switch token.rawKind {
            case .identifier, .binaryOperator, .prefixOperator, .postfixOperator: return token
            default: continue
            }
        }
        return nil
    }

    private mutating func inside(
        _ kind: DeclarationFact.Kind,
        _ name: SyntaxText,
        _ view: RawSyntaxLayoutView?,
        traits: DeclarationFact.Traits = [],
        _ work: (inout Self) -> Void
    ) {
        let parent = declaration >= 0 ? facts.declarations[Int(declaration)] : nil
        let isLocal =
            parent.map { $0.kind.rawValue >= DeclarationFact.Kind.function.rawValue } ?? false
        var own: AccessLevel?
        var traits = traits
        if let view {
            for case let child? in view.children where child.kind == .declModifierList {
                own = access(of: child)
                if isStatic(child) { traits.insert(.isStatic) }
            }
        }
        if conditionDepth > 0 { traits.insert(.conditional) }
        let text = string(name)
        let outer = declaration
        facts.declarations.append(
            DeclarationFact(
                kind: kind,
                name: text,
                qualifiedName: parent.map { DeclarationFact.qualified(text, in: $0.qualifiedName) }
                    ?? text,
                parent: outer,
                access: isLocal ? .private : reach(kind, own, parent),
                traits: traits,
                place: place(of: name)
            )
        )
        declaration = Int32(facts.declarations.count - 1)
        let types = localTypes.count
        work(&self)
        localTypes.removeSubrange(types...)
        declaration = outer
    }

    private func reach(
        _ kind: DeclarationFact.Kind,
        _ own: AccessLevel?,
        _ parent: DeclarationFact?
    ) -> AccessLevel {
        guard let parent else {
            // An extension without an access level gets that of its members.
            return own ?? (kind == .extension ? .open : .internal)
        }
        switch parent.kind {
        case .protocol: return parent.access
        case .enum where kind == .enumCase: return parent.access
        case .extension where own == nil:
            return parent.access == .open ? .internal : parent.access
        default: return min(own ?? .internal, parent.access)
        }
    }

    func access(of modifiers: RawSyntax) -> AccessLevel? {
        guard let children = modifiers.layoutView?.children else { return nil }
        for case let child? in children {
            // `private(set)` does not affect reading.
            guard let modifier = RawDeclModifierSyntax(child), modifier.detail == nil else {
                continue
            }
            let word = modifier.name.tokenText
            if word == "public" { return .public }
            if word == "private" { return .private }
            if word == "fileprivate" { return .fileprivate }
            if word == "internal" { return .internal }
            if word == "package" { return .package }
            if word == "open" { return .open }
        }
        return nil
    }

    private func isStatic(_ modifiers: RawSyntax) -> Bool {
        guard let children = modifiers.layoutView?.children else { return false }
        for case let child? in children {
            let word = RawDeclModifierSyntax(child)?.name.tokenText
            if word == "static" || word == "class" { return true }
        }
        return false
    }
}
