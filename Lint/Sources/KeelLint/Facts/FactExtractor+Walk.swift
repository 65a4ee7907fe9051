@_spi(RawSyntax) import SwiftSyntax

extension FactExtractor {
    /// Visits a node and its children; ``read(_:_:_:)`` handles the rarer nodes.
    mutating func walk(_ node: RawSyntax) {
        let kind = node.kind
        switch kind {
        // Tokens, and nodes of tokens only: more than half of all nodes.
        case .token, .stringSegment, .simpleStringLiteralExpr, .integerLiteralExpr,
            .floatLiteralExpr, .booleanLiteralExpr, .nilLiteralExpr, .superExpr,
            .discardAssignmentExpr, .assignmentExpr, .binaryOperatorExpr, .identifierPattern,
            .wildcardPattern, .declModifierList:
            return
        // Nodes that only contain other nodes.
        case .codeBlockItemList, .memberBlockItemList, .memberBlockItem, .labeledExprList,
            .stringLiteralSegmentList, .attributeList, .arrayElementList, .exprList,
            .expressionStmt, .awaitExpr, .multipleTrailingClosureElementList:
            if let children = node.layoutView?.children {
                for case let child? in children { walk(child) }
            }
        default:
            guard let view = node.layoutView else { return }
            read(node, kind, view)
        }
    }

    /// The positions of tokens among the children of frequent nodes, as bits: fetching a child to see that it is a
    /// token would take longer than the rest.
    private static func words(in kind: SyntaxKind) -> UInt16 {
        switch kind {
        case .labeledExpr: 1 << 1 | 1 << 3 | 1 << 7
        case .stringLiteralExpr: 1 << 1 | 1 << 3 | 1 << 7 | 1 << 9
        case .expressionSegment: 1 << 1 | 1 << 3 | 1 << 5 | 1 << 9
        case .codeBlock, .memberBlock, .arrayExpr, .tupleExpr, .functionParameterClause:
            1 << 1 | 1 << 5
        case .closureExpr: 1 << 1 | 1 << 7
        case .codeBlockItem, .arrayElement, .forceUnwrapExpr: 1 << 3
        case .returnStmt, .initializerClause, .typeAnnotation, .prefixOperatorExpr: 1 << 1
        default: 0
        }
    }

    @inline(never)
    private mutating func read(_ node: RawSyntax, _ kind: SyntaxKind, _ view: RawSyntaxLayoutView) {
        switch kind {
        case .importDecl: readImport(node)
        case .structDecl, .classDecl, .enumDecl, .actorDecl, .protocolDecl, .extensionDecl:
            readTypeDeclaration(node, view)
        case .typeAliasDecl, .associatedTypeDecl: readAlias(node, view)
        case .functionDecl, .initializerDecl, .deinitializerDecl, .subscriptDecl, .macroDecl:
            readCallable(node, view)
        case .variableDecl: readVariable(node, view)
        case .enumCaseElement: readCase(node, view)

        case .identifierType, .memberType: readType(node)
        case .memberAccessExpr, .declReferenceExpr: readPath(node, call: nil)
        case .functionCallExpr: readCall(node)
        case .sequenceExpr: readSequence(view)
        case .tryExpr: readTry(node)
        case .doStmt: readDo(node)

        case .ifConfigDecl:
            conditionDepth += 1
            walkChildren(view)
            conditionDepth -= 1
        case .ifConfigClause:
            // The condition contains names of platforms and modules, not types.
            if let elements = RawIfConfigClauseSyntax(node)?.elements { walk(elements) }
        case .availabilityArgumentList, .availabilityCondition: break
        case .attribute: within(.attribute) { $0.walkChildren(view) }
        case .codeBlockItem:
            dropsValue = Self.isDroppedTry(view)
            walkChildren(view, words: Self.words(in: kind))
        case .codeBlock, .accessorBlock, .closureExpr, .initializerClause:
            let value = usedTry(in: node, kind)
            within(context == .defaultArgument ? .defaultArgument : .body) { extractor in
                if let value {
                    if let signature = RawClosureExprSyntax(node)?.signature?.raw {
                        extractor.walk(signature)
                    }
                    extractor.walk(value)
                } else {
                    extractor.walkChildren(view, words: Self.words(in: kind))
                }
            }
        case .accessorDecl: readAccessor(node, view)
        case .functionParameter:
            for case let child? in view.children {
                if child.kind == .initializerClause {
                    within(.defaultArgument) { $0.walk(child) }
                } else {
                    walk(child)
                }
            }
        case .optionalBindingCondition:
            readLocalType(
                RawOptionalBindingConditionSyntax(node)?.pattern.raw,
                RawOptionalBindingConditionSyntax(node)?.typeAnnotation
            )
            walkChildren(view)
        default: walkChildren(view, words: Self.words(in: kind))
        }
    }

    /// Whether a statement is `try? …`, `_ = try? …` or `let _ = try? …`.
    private static func isDroppedTry(_ view: RawSyntaxLayoutView) -> Bool {
        // Each child is preceded by a slot for unexpected nodes.
        guard view.children.count > 1, let item = view.children[1] else { return false }
        if item.kind == .tryExpr { return true }
        if let bindings = RawVariableDeclSyntax(item)?.bindings.raw {
            return Self.parts(of: bindings).contains { part in
                guard let binding = RawPatternBindingSyntax(part) else { return false }
                return binding.pattern.raw.kind == .wildcardPattern
                    && binding.initializer?.value.raw.kind == .tryExpr
            }
        }
        guard item.kind == .sequenceExpr, let parts = item.layoutView?.children, parts.count > 1,
            let elements = parts[1]?.layoutView?.children, elements.count == 3
        else { return false }
        return elements[0]?.kind == .discardAssignmentExpr && elements[2]?.kind == .tryExpr
    }

    mutating func walkChildren(_ view: RawSyntaxLayoutView, words: UInt16 = 0) {
        guard words != 0 else {
            for case let child? in view.children { walk(child) }
            return
        }
        var rest = words
        for child in view.children {
            if rest & 1 == 0, let child { walk(child) }
            rest >>= 1
        }
    }

    mutating func within(_ context: ReferenceFact.Context, _ work: (inout Self) -> Void) {
        let outer = self.context
        self.context = context
        work(&self)
        self.context = outer
    }

    // MARK: Imports

    private mutating func readImport(_ node: RawSyntax) {
        guard let node = RawImportDeclSyntax(node) else { return }
        var path: [String] = []
        for component in Self.parts(of: node.path.raw) {
            guard let name = RawImportPathComponentSyntax(component)?.name, !name.isMissing else {
                continue
            }
            path.append(string(name.tokenText))
        }
        guard let module = path.first else { return }
        facts.imports.append(
            ImportFact(
                module: module,
                path: path.joined(separator: "."),
                kind: node.importKindSpecifier.map { string($0.tokenText) } ?? "",
                access: access(of: node.modifiers.raw),
                attributes: importAttributes(node.attributes.raw),
                isConditional: conditionDepth > 0,
                place: place(of: node.path.raw)
            )
        )
    }

    private func importAttributes(_ list: RawSyntax) -> ImportAttributes {
        var attributes: ImportAttributes = []
        guard let children = list.layoutView?.children else { return attributes }
        for case let child? in children {
            guard let name = RawAttributeSyntax(child)?.attributeName.raw else { continue }
            let text = Self.trimmedText(of: name)
            if text == "testable" {
                attributes.insert(.testable)
            } else if text == "_exported" {
                attributes.insert(.exported)
            } else if text == "_implementationOnly" {
                attributes.insert(.implementationOnly)
            } else if text == "preconcurrency" {
                attributes.insert(.preconcurrency)
            } else if text == "_spi" {
                attributes.insert(.spi)
            }
        }
        return attributes
    }

    // MARK: Types

    private mutating func readType(_ node: RawSyntax) {
        guard let root = rootName(ofType: node) else {
            if let view = node.layoutView { walkChildren(view) }
            return
        }
        if !genericNames.contains(root), root != "Self" {
            // The names as written, up to the first generic argument.
            note(Self.text(Self.trimmedText(of: node), before: UInt8(ascii: "<")))
        }
        walkArguments(ofType: node)
    }

    /// The first name of a type: `A` in `A.B<C>`.
    func rootName(ofType node: RawSyntax) -> SyntaxText? {
        if let identifier = RawIdentifierTypeSyntax(node) { return identifier.name.tokenText }
        if let member = RawMemberTypeSyntax(node) { return rootName(ofType: member.baseType.raw) }
        return nil
    }

    private mutating func walkArguments(ofType node: RawSyntax) {
        if let identifier = RawIdentifierTypeSyntax(node) {
            if let arguments = identifier.genericArgumentClause?.raw { walk(arguments) }
        } else if let member = RawMemberTypeSyntax(node) {
            walkArguments(ofType: member.baseType.raw)
            if let arguments = member.genericArgumentClause?.raw { walk(arguments) }
        }
    }

    /// The only name in a declared type: `X` of `[X]?`.
    func nameOfType(_ node: RawSyntax) -> SyntaxText? {
        if let name = rootName(ofType: node) {
            guard ["Array", "Set", "Optional"].contains(name),
                let arguments = RawIdentifierTypeSyntax(node)?.genericArgumentClause?.raw
            else { return name }
            return firstType(in: arguments)
        }
        switch node.kind {
        case .arrayType, .optionalType, .implicitlyUnwrappedOptionalType, .someOrAnyType,
            .attributedType:
            return firstType(in: node)
        default: return nil
        }
    }

    private func firstType(in node: RawSyntax) -> SyntaxText? {
        guard let children = node.layoutView?.children else { return nil }
        for case let child? in children {
            if let name = nameOfType(child) ?? firstType(in: child) { return name }
        }
        return nil
    }

    mutating func readLocalType(_ pattern: RawSyntax?, _ annotation: RawTypeAnnotationSyntax?) {
        guard let pattern, let annotation,
            let name = RawIdentifierPatternSyntax(pattern)?.identifier.tokenText,
            let type = nameOfType(annotation.type.raw)
        else { return }
        localTypes.append((name, type))
    }
}
