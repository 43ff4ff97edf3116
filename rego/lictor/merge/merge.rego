# METADATA
# title: Team policy, merged
# description: >-
#   Merges the layers of the team policy: for every key the stricter value wins,
#   whatever the order of the layers. Input {"layers": [{"source", "policy"}]},
#   where a policy is a document or null; a merged policy can be merged again.
# schemas:
#   - input:
#       type: object
#       properties:
#         layers: {type: array, items: {type: object, properties: {source: {type: string}, policy: {}}}}
package lictor.merge

import rego.v2

# METADATA
# title: The table
# description: One row per key of the team policy, with what makes a value of it stricter.
table := {
	"allowedModels": {"stricter": "every list"},
	"askFirst": {"stricter": "true"},
	"audit.checkpoint": {"stricter": "true"},
	"audit.enabled": {"stricter": "true"},
	"audit.observe": {"stricter": "false"},
	"audit.level": {"stricter": "later", "order": ["denials", "mutations", "all"]},
	"denyPaths": {"stricter": "union"},
	"disallowedCommands": {"stricter": "union"},
	"limits.maxSteps": {"stricter": "minimum"},
	"limits.tokenBudget": {"stricter": "minimum"},
	"network.blockedHosts": {"stricter": "union"},
	"network.strictAllowlist": {"stricter": "true"},
	"paths.outsideRoot": {"stricter": "later", "order": ["ask", "deny"]},
	"profile": {"stricter": "later", "order": ["default", "strict"]},
	"requireSandbox": {"stricter": "true"},
}

# METADATA
# title: Result
# description: >-
#   {"policy", "origins"}; the policy is null if no layer has one, and a key that
#   no layer has stays absent. Undefined if a layer has a key that is not in the
#   table, or a value that is not of its row: a policy that cannot be enforced in
#   full must not be enforced in part.
result := {"policy": policy, "origins": origins} if {
	is_array(input.layers)
	count(problems) == 0
}

# METADATA
# title: Policy
# description: The merged document.
policy := null if {
	count(documents) == 0
} else := object.union_n([nested(split(key, "."), value) | some key, value in merged])

# METADATA
# title: Origins
# description: >-
#   Which layer set which value, in the order of the layers: one row for every
#   element of a union, every list of models, and every layer whose value is the
#   one that counts.
origins := [{"key": key, "value": value, "source": layer.source} |
	some layer in documents
	some key, row in table
	some value in elements(row, at(layer.policy, split(key, ".")))
	value in elements(row, merged[key])
]

# METADATA
# title: Layers with a document
# description: A null layer is a missing file.
documents := [layer | some layer in input.layers; layer.policy != null]

# METADATA
# title: Merged values
# description: By key of the table.
merged[key] := value if {
	some key, row in table
	values := [given | some layer in documents; given := at(layer.policy, split(key, "."))]
	count(values) > 0
	value := strictest(row, values)
}

# METADATA
# title: Strictest value
# description: What a row makes of the values of its key.
strictest(row, values) := sort({element | some value in values; some element in value}) if {
	row.stricter == "union"
}

strictest(row, values) := true in values if row.stricter == "true"

strictest(row, values) := false if {
	row.stricter == "false"
	false in values
} else if {
	row.stricter == "false"
}

strictest(row, values) := min(values) if row.stricter == "minimum"

strictest(row, values) := row.order[rank] if {
	row.stricter == "later"
	rank := max([rank | some value in values; some rank, name in row.order; name == value])
}

strictest(row, values) := lists if {
	row.stricter == "every list"
	lists := sort({list | some value in values; some list in model_lists(value)})
	count(lists) > 0
}

# METADATA
# title: Lists of models
# description: >-
#   A layer has one list of names; a merged policy has a list of them. An empty
#   list is no limit.
model_lists(value) := [sort({name | some name in value})] if {
	is_string(value[0])
} else := [sort({name | some name in list}) | some list in value; count(list) > 0]

# METADATA
# title: Elements
# description: The single values that a value consists of.
elements(row, value) := value if {
	row.stricter == "union"
} else := model_lists(value) if {
	row.stricter == "every list"
} else := [value]

# METADATA
# title: Value at a path
# description: A path has one or two keys. Undefined if there is none.
at(document, [key]) := document[key]

at(document, [outer, inner]) := document[outer][inner]

# METADATA
# title: Document with one value
# description: The reverse of at.
nested([key], value) := {key: value}

nested([outer, inner], value) := {outer: {inner: value}}

# METADATA
# title: Problems
# description: What is wrong with a layer. The caller has checked files against schemas/policy.json before; this is the second look.
problems contains {"layer": i, "key": ""} if {
	some i, layer in input.layers
	not well_formed(layer)
}

problems contains {"layer": i, "key": key} if {
	some i, layer in input.layers
	some key, _ in layer.policy
	not known(key)
}

problems contains {"layer": i, "key": $"{outer}.{inner}"} if {
	some i, layer in input.layers
	some outer, value in layer.policy
	not outer in object.keys(table)
	some inner, _ in value
	not annotation(outer)
	not annotation(inner)
	not $"{outer}.{inner}" in object.keys(table)
}

problems contains {"layer": i, "key": key} if {
	some i, layer in input.layers
	some key, row in table
	value := at(layer.policy, split(key, "."))
	not of_row(row, value)
}

# METADATA
# title: Well-formed layer
# description: A source, and a document or null.
well_formed(layer) if {
	is_object(layer)
	object.keys(layer) == {"source", "policy"}
	is_string(layer.source)
	is_object(layer.policy)
	every key, value in layer.policy {
		well_nested(key, value)
	}
}

well_formed(layer) if {
	is_object(layer)
	object.keys(layer) == {"source", "policy"}
	is_string(layer.source)
	layer.policy == null
}

# METADATA
# title: Well-nested
# description: A key that has rows below it holds an object.
well_nested(key, _) if key in object.keys(table)

well_nested(key, _) if annotation(key)

well_nested(_, value) if is_object(value)

# METADATA
# title: Annotations
# description: Keys for people and editors.
annotation(key) if key in {"$schema", "$comment"}

# METADATA
# title: Known key
# description: A key of the table, or the part of one before the dot.
known(key) if annotation(key)

known(key) if {
	some row in object.keys(table)
	key == split(row, ".")[0]
}

# METADATA
# title: Value of a row
# description: Whether a value is of the type that its row needs.
of_row(row, value) if {
	row.stricter == "union"
	texts(value)
}

of_row(row, value) if {
	row.stricter in {"true", "false"}
	is_boolean(value)
}

of_row(row, value) if {
	row.stricter == "minimum"
	is_number(value)
}

of_row(row, value) if {
	row.stricter == "later"
	value in row.order
}

of_row(row, value) if {
	row.stricter == "every list"
	texts(value)
}

of_row(row, value) if {
	row.stricter == "every list"
	is_array(value)
	every list in value {
		texts(list)
	}
}

# METADATA
# title: Texts
# description: A list of strings.
texts(value) if {
	is_array(value)
	every text in value {
		is_string(text)
	}
}
