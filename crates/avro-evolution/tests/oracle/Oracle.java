import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import org.apache.avro.Schema;
import org.apache.avro.SchemaCompatibility;
import org.apache.avro.SchemaCompatibility.Incompatibility;
import org.apache.avro.SchemaNormalization;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericEnumSymbol;
import org.apache.avro.generic.GenericFixed;
import org.apache.avro.generic.IndexedRecord;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.io.EncoderFactory;

/** Answers questions about schemas with Avro's own library: a line holds an array of questions, and its answer the answers. */
public final class Oracle {
    private static final ObjectMapper JSON = new ObjectMapper();

    public static void main(String[] arguments) throws Exception {
        BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8), 1 << 16);
        BufferedWriter answers = new BufferedWriter(new OutputStreamWriter(System.out, StandardCharsets.UTF_8), 1 << 16);
        for (String line = questions.readLine(); line != null; line = questions.readLine()) {
            ArrayNode all = JSON.createArrayNode();
            for (JsonNode question : JSON.readTree(line)) {
                all.add(answer(question));
            }
            answers.write(JSON.writeValueAsString(all));
            answers.newLine();
            answers.flush();
        }
    }

    private static ObjectNode answer(JsonNode question) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            switch (question.get("ask").asText()) {
                case "parse" -> parse(question, answer);
                case "compare" -> compare(question, answer);
                case "decode" -> decode(question, answer);
                default -> answer.put("refused", "no such question");
            }
        } catch (Throwable refusal) {
            answer.put("refused", refusal.getClass().getSimpleName() + ": " + refusal.getMessage());
        }
        return answer;
    }

    /** One parser reads the references in order and then the schema, as Confluent's registry does it. */
    private static void parse(JsonNode question, ObjectNode answer) throws Exception {
        Schema.Parser parser = new Schema.Parser();
        if (question.has("references")) {
            for (JsonNode reference : question.get("references")) {
                parser.parse(reference.asText());
            }
        }
        Schema schema = parser.parse(question.get("schema").asText());
        answer.put("text", schema.toString());
        answer.put("canonical", SchemaNormalization.toParsingForm(schema));
        answer.put("crc64", Long.toHexString(SchemaNormalization.parsingFingerprint64(schema)));
        answer.put("sha256", HexFormat.of().formatHex(SchemaNormalization.parsingFingerprint("SHA-256", schema)));
        ArrayNode logical = answer.putArray("logical");
        for (Schema found : everyTypeOnce(schema)) {
            logical.add(found.getLogicalType() == null ? "" : found.getLogicalType().getName());
        }
    }

    private static void compare(JsonNode question, ObjectNode answer) {
        Schema reader = read(question, "reader", answer);
        Schema writer = read(question, "writer", answer);
        if (reader == null || writer == null) {
            return;
        }
        ArrayNode reasons = JSON.createArrayNode();
        for (Incompatibility found : SchemaCompatibility.checkReaderWriterCompatibility(reader, writer).getResult()
                .getIncompatibilities()) {
            ArrayNode reason = reasons.addArray();
            reason.add(found.getType().name());
            reason.add(found.getLocation());
            reason.add(found.getMessage());
            reason.add(found.getReaderFragment().toString());
            reason.add(found.getWriterFragment().toString());
        }
        answer.set("reasons", reasons);
    }

    private static Schema read(JsonNode question, String role, ObjectNode answer) {
        try {
            return new Schema.Parser().parse(question.get(role).asText());
        } catch (Throwable refusal) {
            answer.put(role, refusal.getClass().getSimpleName() + ": " + refusal.getMessage());
            return null;
        }
    }

    /** Each datum, as the reader's schema has it, and its bytes when it is written with that schema. */
    private static void decode(JsonNode question, ObjectNode answer) throws Exception {
        Schema reader = new Schema.Parser().parse(question.get("reader").asText());
        Schema writer = new Schema.Parser().parse(question.get("writer").asText());
        ArrayNode values = answer.putArray("values");
        for (JsonNode datum : question.get("data")) {
            ObjectNode value = values.addObject();
            try {
                byte[] bytes = HexFormat.of().parseHex(datum.asText());
                // One for each datum: what it has worked out is kept for the schemas, and what broke it is not.
                Object read = new GenericDatumReader<>(writer, reader, new GenericData())
                        .read(null, DecoderFactory.get().binaryDecoder(bytes, null));
                value.set("value", shown(read));
                ByteArrayOutputStream again = new ByteArrayOutputStream();
                BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(again, null);
                new GenericDatumWriter<>(reader).write(read, encoder);
                encoder.flush();
                value.put("again", HexFormat.of().formatHex(again.toByteArray()));
            } catch (Throwable refusal) {
                value.put("refused", refusal.getClass().getSimpleName() + ": " + refusal.getMessage());
            }
        }
    }

    /** A value with its type, floats by their bits. */
    private static JsonNode shown(Object value) {
        ArrayNode shown = JSON.createArrayNode();
        if (value == null) {
            return shown.add("null");
        } else if (value instanceof Boolean truth) {
            return shown.add("boolean").add(truth);
        } else if (value instanceof Integer number) {
            return shown.add("int").add(number.toString());
        } else if (value instanceof Long number) {
            return shown.add("long").add(number.toString());
        } else if (value instanceof Float number) {
            return shown.add("float").add(Integer.toHexString(Float.floatToRawIntBits(number)));
        } else if (value instanceof Double number) {
            return shown.add("double").add(Long.toHexString(Double.doubleToRawLongBits(number)));
        } else if (value instanceof CharSequence text) {
            return shown.add("string").add(text.toString());
        } else if (value instanceof ByteBuffer bytes) {
            byte[] copy = new byte[bytes.remaining()];
            bytes.duplicate().get(copy);
            return shown.add("bytes").add(HexFormat.of().formatHex(copy));
        } else if (value instanceof GenericFixed fixed) {
            return shown.add(fixed.getSchema().getFullName()).add(HexFormat.of().formatHex(fixed.bytes()));
        } else if (value instanceof GenericEnumSymbol<?> symbol) {
            return shown.add(symbol.getSchema().getFullName()).add(symbol.toString());
        } else if (value instanceof Collection<?> items) {
            ArrayNode all = shown.add("array").addArray();
            items.forEach(item -> all.add(shown(item)));
            return shown;
        } else if (value instanceof Map<?, ?> entries) {
            ObjectNode all = shown.add("map").addObject();
            entries.forEach((key, of) -> all.set(key.toString(), shown(of)));
            return shown;
        } else if (value instanceof IndexedRecord record) {
            ObjectNode all = shown.add(record.getSchema().getFullName()).addObject();
            record.getSchema().getFields().forEach(field -> all.set(field.name(), shown(record.get(field.pos()))));
            return shown;
        }
        throw new IllegalStateException("a value of " + value.getClass());
    }

    /** In the order of the text, each record where it comes first. */
    private static List<Schema> everyTypeOnce(Schema schema) {
        List<Schema> found = new ArrayList<>();
        collect(schema, found, new ArrayList<>());
        return found;
    }

    private static void collect(Schema schema, List<Schema> found, List<String> known) {
        found.add(schema);
        switch (schema.getType()) {
            case ARRAY -> collect(schema.getElementType(), found, known);
            case MAP -> collect(schema.getValueType(), found, known);
            case UNION -> schema.getTypes().forEach(branch -> collect(branch, found, known));
            case RECORD -> {
                if (!known.contains(schema.getFullName())) {
                    known.add(schema.getFullName());
                    schema.getFields().forEach(field -> collect(field.schema(), found, known));
                }
            }
            default -> { }
        }
    }
}
